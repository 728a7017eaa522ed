import { lazy, type ComponentType } from 'react'
import type { PermissionName } from '../../../src/features/access/schema.ts'

// One is looked at at a time, and each has forms of its own: they are loaded when they are visited.
const BudgetsSection = lazy(async () => ({ default: (await import('../budgets/BudgetsSection.tsx')).BudgetsSection }))
const ChannelsSection = lazy(async () => ({
  default: (await import('../channels/ChannelsSection.tsx')).ChannelsSection,
}))
const ConfigSection = lazy(async () => ({ default: (await import('../config/ConfigSection.tsx')).ConfigSection }))
const KeysSection = lazy(async () => ({ default: (await import('../access/KeysSection.tsx')).KeysSection }))
const MembersSection = lazy(async () => ({ default: (await import('../access/MembersSection.tsx')).MembersSection }))
const OrgsSection = lazy(async () => ({ default: (await import('../access/OrgsSection.tsx')).OrgsSection }))
const ProvidersSection = lazy(async () => ({
  default: (await import('../providers/ProvidersSection.tsx')).ProvidersSection,
}))
const SecretsSection = lazy(async () => ({ default: (await import('../secrets/SecretsSection.tsx')).SecretsSection }))
const TargetsSection = lazy(async () => ({ default: (await import('../targets/TargetsSection.tsx')).TargetsSection }))

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
