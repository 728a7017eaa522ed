import type { ComponentType } from 'react'
import type { PermissionName } from '../../../src/contract/me.ts'
import { BudgetsSection } from './BudgetsSection.tsx'
import { ChannelsSection } from './ChannelsSection.tsx'
import { ConfigSection } from './ConfigSection.tsx'
import { KeysSection } from './KeysSection.tsx'
import { MembersSection } from './MembersSection.tsx'
import { OrgsSection } from './OrgsSection.tsx'
import { ProvidersSection } from './ProvidersSection.tsx'
import { SecretsSection } from './SecretsSection.tsx'
import { TargetsSection } from './TargetsSection.tsx'

interface SectionSpec {
  readonly permission: PermissionName
  readonly operatorOnly?: boolean
  readonly component: ComponentType
}

/** The name of a section, which is also its address. */
export type SectionName =
  'targets' | 'channels' | 'secrets' | 'keys' | 'members' | 'limits' | 'providers' | 'config' | 'orgs'

/** The sections of the settings, in the order in which people need them. */
export const SECTIONS: Readonly<Record<SectionName, SectionSpec>> = {
  targets: { permission: 'targets:read', component: TargetsSection },
  channels: { permission: 'agents:read', component: ChannelsSection },
  secrets: { permission: 'secrets:read', component: SecretsSection },
  keys: { permission: 'keys:read', component: KeysSection },
  members: { permission: 'admin:*', component: MembersSection },
  limits: { permission: 'budgets:read', component: BudgetsSection },
  providers: { permission: 'budgets:read', component: ProvidersSection },
  config: { permission: 'admin:*', operatorOnly: true, component: ConfigSection },
  orgs: { permission: 'admin:*', operatorOnly: true, component: OrgsSection },
}
