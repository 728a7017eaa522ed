import {
  MAX_PROGRAM_OUTPUT_BYTES,
  MAX_PATH_LENGTH,
  MAX_COMMAND_ARGS,
  parseCommandOptions,
  type CommandOptions,
} from './options.ts'
import type { ExecutorSpec } from '../kind.ts'

export const COMMAND = {
  kind: 'command',
  about: 'starts `program` (with `args`, `cwd`, `env`, `stdin`, `output_bytes`) if the operator allows it',
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
