import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listCommands } from '../../src/cli/program.ts'
import { valuesOf } from '../../src/cli/remote/fields.ts'
import { filtersOf, only, optionsOf } from '../../src/cli/remote/schema-options.ts'
import { timeInput } from '../../src/api/fields.ts'
import { NOW } from '../support/builders.ts'

const body = z.strictObject({
  name: z.string().describe('Name of the thing.'),
  agent_id: z.string().nullish().describe('Agent that does the work. Default: the default agent.'),
  kind: z.enum(['a', 'b']).optional().describe('What it is. Default: `a`.'),
  retry_policy: z.strictObject({ max: z.int() }).nullish().describe('Retries.'),
  timeout_seconds: z.int().min(1).max(60).describe('Maximum duration.'),
  jitter_ms: z.int().min(0).describe('Maximum delay.'),
  queue_depth: z.int().min(0).max(100).describe('How many may wait. Default: 10.'),
  starts_at: timeInput.optional().describe('Not before this time.'),
  scopes: z.array(z.string()).describe('IANA names.'),
  alerts: z.boolean().nullish().describe('Whether it receives alerts. Default: false.'),
  enabled: z.boolean().optional().describe('Whether it works.'),
  tz: z.string().optional().describe('Same as `timezone`.'),
})

const helpOf = (schema: z.ZodObject): object =>
  Object.fromEntries(optionsOf(schema).map(({ flags, about }) => [flags, about]))

describe('options of a schema', () => {
  it('have flags from the names of its fields, and help from their descriptions', () => {
    expect(helpOf(body)).toEqual({
      '--name <name>': 'name of the thing',
      '--agent <id>': 'agent that does the work (default: the default agent)',
      '--kind <word>': 'what it is: a, b (default: a)',
      '--retry <json>': 'retries',
      '--timeout <duration>': 'maximum duration',
      '--jitter <duration>': 'maximum delay',
      '--queue-depth <n>': 'how many may wait (0 to 100; default: 10)',
      '--starts <time>': 'not before this time',
      '--scopes <a,b>': 'IANA names',
      '--alerts': 'it receives alerts',
      '--disabled': 'disable it',
    })
  })

  it('read what is behind them as their fields want it', () => {
    const given = {
      ...{ name: 'n', agent: 'a', retry: '{"max":1}', timeout: '1m', jitter: '2s', queueDepth: '3' },
      ...{ starts: '30m', scopes: 'a, b', alerts: true, disabled: true },
    }
    expect(valuesOf(optionsOf(body), given, NOW)).toEqual({
      ...{ name: 'n', agent_id: 'a', retry_policy: { max: 1 }, timeout_seconds: 60, jitter_ms: 2_000, queue_depth: 3 },
      starts_at: new Date(NOW + 1_800_000).toISOString(),
      ...{ scopes: ['a', 'b'], alerts: true, enabled: false },
    })
  })

  it('are what overrides say, where they say something', () => {
    const options = optionsOf(body, {
      name: '--title <text>',
      kind: { flags: '--kind <kind>', hint: 'or nothing' },
      scopes: [{ flags: '--all', stands: ['*'], about: 'everything' }, '--scope <a>'],
      alerts: null,
    })
    expect(only(options, 'scopes', 'kind', 'name', 'alerts').map(({ flags, about }) => [flags, about])).toEqual([
      ['--all', 'everything'],
      ['--scope <a>', 'IANA names'],
      ['--kind <kind>', 'what it is: a, b, or nothing (default: a)'],
      ['--title <text>', 'name of the thing'],
    ])
    expect(valuesOf(options, { all: true }, NOW)).toEqual({ scopes: ['*'] })
  })

  it('of a query lie in the past, without those of every list', () => {
    const query = z.strictObject({ from: timeInput, limit: z.int(), cursor: z.string() })
    expect(valuesOf(filtersOf(query), { from: '30m', limit: '5', cursor: 'x' }, NOW)).toEqual({
      from: new Date(NOW - 1_800_000).toISOString(),
    })
  })
})

it('every command and option has help', async () => {
  const commands = await listCommands()
  const silent = commands.flatMap(({ usage, about, options }) => [
    ...(about === '' ? [usage] : []),
    ...options.filter((option) => !/^[\p{L}"-]/u.test(option.about)).map(({ flags }) => `${usage} ${flags}`),
  ])
  expect(silent).toEqual([])
})
