import { providerInput, providerPatch } from '../contract/provider.ts'
import { schemaReader } from '../contract/read-input.ts'
import type { Escapement } from '../escapement.ts'
import {
  changeProvider,
  createProvider,
  findProviders,
  getProvider,
  removeProvider,
  type ProviderPorts,
} from '../service/providers.ts'
import type { Running } from './running.ts'

const portsOf = ({ app }: Running): ProviderPorts => ({ ...app.ports, work: app.work })

/** Providers: what several agents call, with quotas they share. */
export const providersOf = (running: () => Running): Escapement['providers'] => ({
  create: async (input) => createProvider(portsOf(running()), running().caller, schemaReader(providerInput)(input)),
  get: (name) => getProvider(portsOf(running()), running().caller, name),
  list: () => findProviders(portsOf(running()), running().caller),
  update: async (name, change) =>
    changeProvider(portsOf(running()), running().caller, { name, change: schemaReader(providerPatch)(change) }),
  delete: (name) => removeProvider(portsOf(running()), running().caller, { name }),
})
