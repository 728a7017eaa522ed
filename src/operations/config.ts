import { config, configPatch } from '../contract/config.ts'
import { changeConfig } from '../service/config.ts'
import { operation } from './operation.ts'

const deployment = {
  path: '/api/v1/config',
  tag: 'config',
  permission: 'admin:*',
  operatorOnly: true,
} as const

/** The configuration of the deployment. */
export const configOperations = {
  'config.get': operation({
    ...{ ...deployment, method: 'GET' },
    summary: 'Shows every setting, and who has set it',
    description: 'As it holds on the node that answers. Secrets are masked.',
    answers: { 200: config },
  }).by(({ ctx }) => ctx.config.view()),
  'config.update': operation({
    ...{ ...deployment, method: 'PATCH' },
    summary: 'Changes settings on every node, while everything runs',
    description:
      'Whole or not at all. Null takes back what was set here, so that file, environment or default hold again; 0 ' +
      'leaves a lane, a limit or a time to live as it is. What takes effect at a start only is refused.',
    body: configPatch,
    answers: { 200: config },
    examples: { body: { tasks: { max_queue: 2_000 }, log: { level: 'debug' } } },
  }).by(({ ctx, ports, caller, body }) => changeConfig({ ...ports, config: ctx.config }, caller, body)),
}
