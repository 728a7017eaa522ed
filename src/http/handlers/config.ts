import type { configOperations } from '../../operations/config.ts'
import { changeConfig } from '../../service/config.ts'
import type { HandlersOf } from '../call.ts'

/** The configuration of the deployment. */
export const configHandlers: HandlersOf<typeof configOperations> = {
  'config.get': ({ ctx }) => ctx.config.view(),
  'config.update': ({ ctx, ports, caller, body }) => changeConfig({ ...ports, config: ctx.config }, caller, body),
}
