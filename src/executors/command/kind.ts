import { LARGEST_OUTPUT, LONGEST_PATH, MOST_ARGS, parseCommandOptions, type CommandOptions } from './options.ts'
import type { ExecutorSpec } from '../kind.ts'

export const COMMAND = {
  kind: 'command',
  about: 'starts `program` (with `args`, `cwd`, `env`, `stdin`, `output_bytes`) where the operator lists it',
  concept: "a [program](#programs) of the server's machine",
  timeoutSeconds: 60,
  isInline: false,
  parse: parseCommandOptions,
  console: {
    name: { en: 'Starts a program (command)', zh: '启动程序（command）' },
    place: 'program',
    fields: [
      {
        name: 'program',
        input: 'code',
        label: { en: 'Program', zh: '程序' },
        hint: { en: 'One that the operator allows.', zh: '须是运维人员允许的程序。' },
        example: '/usr/bin/report',
        isRequired: true,
        max: LONGEST_PATH,
      },
      {
        name: 'args',
        input: 'list',
        max: MOST_ARGS,
        label: { en: 'Arguments', zh: '参数' },
        hint: { en: 'One per line; no shell reads them.', zh: '每行一个；不经过 shell。' },
      },
      {
        name: 'cwd',
        input: 'code',
        max: LONGEST_PATH,
        label: { en: 'Directory', zh: '目录' },
      },
      {
        name: 'env',
        input: 'pairs',
        label: { en: 'Environment', zh: '环境变量' },
        hint: { en: 'All of it, one variable per line.', zh: '全部环境，每行一个变量。' },
      },
      {
        name: 'stdin',
        input: 'json',
        label: { en: 'Input', zh: '输入' },
        hint: { en: 'JSON in place of the usual dispatch.', zh: '用此 JSON 代替通常的派发内容。' },
      },
      {
        name: 'output_bytes',
        input: 'number',
        label: { en: 'Most output, bytes', zh: '最大输出（字节）' },
        example: String(LARGEST_OUTPUT),
        min: 1,
        max: LARGEST_OUTPUT,
        isWhole: true,
      },
    ],
  },
} as const satisfies ExecutorSpec<'command', CommandOptions>
