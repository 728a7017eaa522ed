import type { OperationTable } from '../../operations/handler.ts'
import { taskOperations } from '../../features/tasks/routes.ts'
import { Refusal } from '../../api/refusals.ts'
import { readJsonBody } from '../../server/http/json-body.ts'
import { addRoutes, type Routing } from '../../server/http/routes.ts'

const chosen = (table: OperationTable, isWanted: (facade: boolean) => boolean): OperationTable =>
  Object.fromEntries(Object.entries(table).filter(([, spec]) => isWanted(spec.facade === true)))

/** Those of the operations that are the façade's. */
export const onlyFacade = (table: OperationTable): OperationTable => chosen(table, (facade) => facade)

/** Those of the operations that are not. */
export const withoutFacade = (table: OperationTable): OperationTable => chosen(table, (facade) => !facade)

const ROOTS: readonly string[] = [
  ...new Set(Object.values(taskOperations).map(({ path }) => path.split('/:', 1)[0] ?? path)),
]

/** Whether whoever asks for this path is a client of the façade, also when there is nothing there. */
export const isFacadePath = (path: string): boolean =>
  ROOTS.some((root) => path === root || path.startsWith(`${root}/`))

/** Registers the routes of the façade. Its clients say of their JSON whatever their tools say, so nobody looks there. */
export function addFacade(routing: Routing, table: OperationTable): void {
  const { app, ctx } = routing
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, parsed) => {
      try {
        parsed(null, readJsonBody(bytes as Buffer))
      } catch (error) {
        parsed(error as Error)
      }
    })
    scope.addHook('onRequest', (_request, _reply, next) => {
      next(ctx.settings().tasksEnabled ? undefined : new Refusal('NOT_FOUND', 'Tasks are switched off: tasks.enabled'))
    })
    addRoutes({ ...routing, app: scope }, table)
    done()
  })
}
