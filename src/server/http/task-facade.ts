import type { IncomingHttpHeaders } from 'node:http'
import { Refusal, REFUSAL_TITLES } from '../../api/refusals.ts'
import { taskOperations } from '../../features/tasks/routes.ts'
import { facadeCodeOf, type TaskError } from '../../features/tasks/schema.ts'
import type { OperationTable } from '../../operations/handler.ts'
import { readJsonBody } from './json-body.ts'
import { problemOf } from './problem.ts'
import { addRoutes, type Routing } from './routes.ts'

/** The media type of all responses of the façade, including errors. */
export const TASK_ERROR_TYPE = 'application/json; charset=utf-8'

/** The parts of a request that its error needs. */
interface RefusedRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** An API error in the format of the façade. */
export function taskErrorOf(refusal: Refusal, { headers, body }: RefusedRequest): TaskError {
  const { detail, errors, details, run_id: taskId } = problemOf(refusal, '', body)
  const responseDetails = {
    ...details,
    ...(errors === undefined ? {} : { errors }),
    ...(taskId === undefined ? {} : { taskId }),
  }
  return {
    error: detail === '' ? REFUSAL_TITLES[refusal.code] : detail,
    code: hasNoCredentials(refusal, headers) ? 'missing_token' : facadeCodeOf(refusal.code),
    ...(isRetryable(refusal) ? { retryable: true } : {}),
    ...(Object.keys(responseDetails).length === 0 ? {} : { details: responseDetails }),
  }
}

const hasNoCredentials = ({ code }: Refusal, { authorization, cookie }: IncomingHttpHeaders): boolean =>
  code === 'UNAUTHENTICATED' && authorization === undefined && cookie === undefined

/** Limits and outages: the same request may succeed later. */
const isRetryable = ({ status }: Refusal): boolean => status === 429 || status === 503

const filterOperations = (table: OperationTable, isWanted: (facade: boolean) => boolean): OperationTable =>
  Object.fromEntries(Object.entries(table).filter(([, spec]) => isWanted(spec.facade === true)))

/** The operations of the façade. */
export const onlyFacade = (table: OperationTable): OperationTable => filterOperations(table, (facade) => facade)

/** The operations outside the façade. */
export const withoutFacade = (table: OperationTable): OperationTable => filterOperations(table, (facade) => !facade)

const FACADE_ROOTS: readonly string[] = [
  ...new Set(Object.values(taskOperations).map(({ path }) => path.split('/:', 1)[0] ?? path)),
]

/** Whether the path belongs to the façade, even if there is no such route. */
export const isFacadePath = (path: string): boolean =>
  FACADE_ROOTS.some((root) => path === root || path.startsWith(`${root}/`))

/** Registers the routes of the façade. Its clients send various content types, so the type is ignored. */
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
      next(
        ctx.settings().tasksEnabled
          ? undefined
          : new Refusal('NOT_FOUND', 'Tasks are disabled; set tasks.enabled to true'),
      )
    })
    addRoutes({ ...routing, app: scope }, table)
    done()
  })
}
