import {
  MAX_PROGRAM_OUTPUT_BYTES,
  MAX_PATH_LENGTH,
  COMMAND_PRESETS,
  MAX_COMMAND_ARGS,
  parseCommandOptions,
  type CommandOptions,
} from './options.ts'
import type { ExecutorSpec } from '../kind.ts'

export const COMMAND = {
  kind: 'command',
  about:
    'starts `program` (with `args`, `cwd`, `env`, `stdin`, `output_bytes`; or as an agent with `preset`, `resume`, `service`) if the operator allows it',
  concept: "a [program](#programs) on the server's machine",
  timeoutSeconds: 60,
  isInline: false,
  parse: parseCommandOptions,
  console: {
    name: { en: 'Program (command)', zh: '程序（command）' },
    place: 'program',
    fields: [
      {
        name: 'program',
        input: 'code',
        label: { en: 'Program', zh: '程序' },
        hint: { en: 'Must be allowed by the operator.', zh: '须经运维人员允许。' },
        example: '/usr/bin/report',
        isRequired: true,
        max: MAX_PATH_LENGTH,
      },
      {
        name: 'preset',
        input: 'choice',
        choices: COMMAND_PRESETS,
        label: { en: 'Preset', zh: '预设' },
        hint: {
          en: 'How the program is called and read. Empty: it reads a dispatch and prints a result.',
          zh: '程序的调用与读取方式。留空：程序读取派发内容并输出结果。',
        },
      },
      {
        name: 'args',
        input: 'list',
        max: MAX_COMMAND_ARGS,
        label: { en: 'Arguments', zh: '参数' },
        hint: { en: 'One per line, passed without a shell.', zh: '每行一个，不经过 shell。' },
      },
      {
        name: 'cwd',
        input: 'code',
        max: MAX_PATH_LENGTH,
        label: { en: 'Working directory', zh: '工作目录' },
      },
      {
        name: 'env',
        input: 'pairs',
        label: { en: 'Environment variables', zh: '环境变量' },
        hint: { en: 'One per line. The program gets no others.', zh: '每行一个。程序只会获得这些变量。' },
      },
      {
        name: 'stdin',
        input: 'json',
        label: { en: 'Input', zh: '输入' },
        hint: { en: 'JSON sent instead of the default dispatch.', zh: '用此 JSON 代替默认的派发内容。' },
      },
      {
        name: 'resume',
        input: 'flag',
        label: { en: 'Resume the session', zh: '恢复会话' },
        hint: {
          en: 'With a preset: the next run of a session resumes the session of the program.',
          zh: '需要预设：同一会话的下一次运行会恢复程序自己的会话。',
        },
      },
      {
        name: 'service',
        input: 'code',
        label: { en: 'Service', zh: '服务' },
        hint: {
          en: 'URL that the secrets in the environment must be allowed for. Default: that of the preset.',
          zh: '环境变量中的凭据必须获准用于此 URL。默认为预设的服务。',
        },
        example: 'https://api.openai.com',
        max: MAX_PATH_LENGTH,
      },
      {
        name: 'output_bytes',
        input: 'number',
        label: { en: 'Max output, bytes', zh: '最大输出（字节）' },
        example: String(MAX_PROGRAM_OUTPUT_BYTES),
        min: 1,
        max: MAX_PROGRAM_OUTPUT_BYTES,
        isWhole: true,
      },
    ],
  },
} as const satisfies ExecutorSpec<'command', CommandOptions>
