import { config, configPatch } from './schema.ts'
import { updateConfig } from './service.ts'
import { operation } from '../../operations/handler.ts'

const deployment = {
  path: '/api/v1/config',
  tag: 'config',
  permission: 'admin:*',
  operatorOnly: true,
} as const

/** The API of the deployment's configuration. */
export const configOperations = {
  'config.get': operation({
    ...{ ...deployment, method: 'GET' },
    summary: 'Get all settings and their sources',
    description: 'The values are those of the node that handles the request. Secrets are masked.',
    answers: { 200: config },
  }).by(({ ctx }) => ctx.config.view()),
  'config.update': operation({
    ...{ ...deployment, method: 'PATCH' },
    summary: 'Change settings on every node without a restart',
    description:
      'All changes or none. Null removes the override, so that the file, environment or default applies again; 0 leaves ' +
      'a lane, a limit or a time to live unchanged. Settings that need a restart are refused.',
    body: configPatch,
    answers: { 200: config },
    examples: { body: { tasks: { max_queue: 2_000 }, log: { level: 'debug' } } },
  }).by(({ ctx, ports, caller, body }) => updateConfig({ ...ports, config: ctx.config }, caller, body)),
}
