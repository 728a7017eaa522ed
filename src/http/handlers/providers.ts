import type { providerOperations } from '../../operations/providers.ts'
import {
  changeProvider,
  createProvider,
  findProviderPage,
  getProvider,
  removeProvider,
} from '../../service/providers.ts'
import type { HandlersOf } from '../call.ts'

/** What several agents call, with quotas they share. */
export const providerHandlers: HandlersOf<typeof providerOperations> = {
  'providers.create': ({ ctx, ports, caller, body }) => createProvider({ ...ports, work: ctx.work }, caller, body),
  'providers.list': ({ ctx, ports, caller, query }) => findProviderPage({ ...ports, work: ctx.work }, caller, query),
  'providers.get': ({ ctx, ports, caller, params }) => getProvider({ ...ports, work: ctx.work }, caller, params.name),
  'providers.update': ({ ctx, ports, caller, params, body }) =>
    changeProvider({ ...ports, work: ctx.work }, caller, { name: params.name, change: body }),
  'providers.delete': async ({ ctx, ports, caller, params }) => {
    await removeProvider({ ...ports, work: ctx.work }, caller, { name: params.name })
    return undefined
  },
}
