import { describe, expect, it } from 'vitest'
import { readConfigText } from '../../../src/platform/config/file.ts'
import { complaintsOf, layerOf } from './samples.ts'

describe('a file that cannot be taken', () => {
  const cases: readonly (readonly [what: string, text: string, complaints: readonly (string | RegExp)[]])[] = [
    [
      'a misspelt setting',
      'log: { level: debug }\ntasks:\n  max_qeue: 5\n',
      [/^3: tasks.max_qeue 5: is not a known setting; did you mean max_queue\? \(allowed: enabled, max_queue, /],
    ],
    ['a misspelt group', 'task: {}\n', [/^1: task: is not a known setting; did you mean tasks\?/]],
    [
      'a setting in the wrong place',
      'port: 80\n',
      [/^1: port 80: is not a known setting; did you mean server.port or smtp.port\?/],
    ],
    [
      'a setting that is in one place only',
      'cap: 5\n',
      [/^1: cap 5: is not a known setting; did you mean sessions.cap\?/],
    ],
    ['a word that is none of ours', 'browser: {}\n', [/^1: browser: is not a known setting \(allowed: /]],
    [
      'a group under two names',
      'tasks: { max_queue: 5 }\nscheduler: { enabled: true }\nqueue: { cap: 3 }\nsessions: { cap: 3 }\n',
      [/^2: scheduler: cannot be combined with tasks/, /^3: queue: cannot be combined with sessions/],
    ],
    [
      'a setting under two names',
      'scheduler:\n  maxQueue: 5\n  max_queue: 5\n',
      [/^3: scheduler.max_queue: cannot be combined with scheduler.maxQueue/],
    ],
    [
      'a wrong value under the name of another scheduler',
      'queue: { cap: -1 }\nscheduler:\n  maxPerAgentFlight: x\n  max_qeue: 5\n',
      [
        /^1: queue.cap -1: is out of range/,
        /^3: scheduler.maxPerAgentFlight "x": must be a whole number/,
        /^4: scheduler.max_qeue 5: is not a known setting; did you mean max_queue\?/,
      ],
    ],
    ['a name from JavaScript', 'tasks: { maxQueue: 5 }\n', [/did you mean max_queue\?/]],
    [
      'a negative size',
      '\nlanes:\n  main: -1\n',
      ['3: lanes.main -1: is out of range (allowed: a whole number from 0 to 1000000)'],
    ],
    ['a fraction', 'tasks: { max_queue: 1.5 }\n', [/^1: tasks.max_queue 1.5: must be a whole number/]],
    ['a number in quotes', 'tasks: { max_queue: "5" }\n', [/^1: tasks.max_queue "5": must be a whole number/]],
    [
      'a duration that is no whole number of the unit',
      'tasks: { result_ttl_seconds: 1500ms }\n',
      [/^1: tasks.result_ttl_seconds 1.5: must be a whole number \(allowed: .* or a duration such as 30m\)/],
    ],
    [
      'a duration where there is no unit',
      'tasks: { max_queue: 30m }\n',
      [/^1: tasks.max_queue "30m": must be a whole number/],
    ],
    ['a group that is a number', 'tasks: 5\n', [/^1: tasks 5: must be an object \(allowed: enabled, max_queue/]],
    [
      'an unknown word',
      'sessions: { mode: loud }\n',
      ['1: sessions.mode "loud": is not a known value (allowed: queue, followup, interrupt)'],
    ],
    [
      'an unknown zone',
      'schedules: { default_timezone: Mars/Base }\n',
      [/^1: schedules.default_timezone "Mars\/Base"/],
    ],
    [
      'nothing where something is needed',
      'tasks:\n  max_queue:\n',
      [/^2: tasks.max_queue null: must be a whole number/],
    ],
    ['a renewal after the end of the lease', 'node: { renew_ms: 1.5 }\n', [/^1: node.renew_ms/]],
    [
      'an address with a path',
      'server: { public_url: "https://a.example/x" }\n',
      [/^1: server.public_url .*must not have a path/],
    ],
    [
      'a bad entry of a list',
      'outbound:\n  allow_hosts:\n    - good:80\n    - bad\n',
      [/^4: outbound.allow_hosts.1 "bad": is not a host with a port/],
    ],
    ['a repeated setting', 'log: { level: info }\nlog: { level: debug }\n', ['2: duplicate name "log"']],
    ['broken YAML', 'tasks: { max_queue: 5\nlog: [\n', [/^\d+: /]],
    ['a tab', 'tasks:\n\tmax_queue: 5\n', [/^2: /]],
    ['two documents', 'log: { level: info }\n---\nlog: { level: debug }\n', [/^\d+: .*document/]],
    ['a text', 'hello\n', [/^1: must contain settings/]],
    ['a list', '- 1\n', [/^1: must contain settings/]],
    [
      'a bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map(
          (name, at) =>
            `${name}: &${name} [${Array(9)
              .fill(`*${'abcdefgh'.charAt(at)}`)
              .join(',')}]`,
        )
        .join('\n')}\n`,
      [/alias/i],
    ],
  ]

  it.each(cases)('says where and why: %s', (_what, text, expected) => {
    const complaints = complaintsOf(text)
    for (const [index, one] of expected.entries()) expect(complaints[index]).toMatch(one)
    expect(complaints.length).toBeGreaterThanOrEqual(expected.length)
  })

  it('tells everything that is wrong, in the order of the lines', () => {
    const lines = complaintsOf('lanes: { main: -1 }\nfoo: 1\ntasks:\n  max_queue: x\nlog: { level: loud }\n')
    expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual(['1', '2', '4', '5'])
  })

  it('tells what is there twice, and the rest all the same', () => {
    const lines = complaintsOf('log: { level: info }\nfoo: 1\nlog: { level: debug }\n')
    expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual(['2', '3'])
  })

  it('tells the first mistakes of a list or a file, and how many more there are', () => {
    const lines = complaintsOf(`server:\n  allowed_hosts:\n${'  - ""\n'.repeat(30)}`)
    expect(lines).toHaveLength(21)
    expect(lines).toContainEqual(expect.stringMatching(/: server.allowed_hosts: and 10 more mistakes/))
    const doubles = complaintsOf(`lanes:\n${'  a: 1\n'.repeat(61)}`)
    expect(doubles).toHaveLength(51)
    expect(doubles.at(-1)).toBe('53: more errors follow (10 not shown)')
  })

  it('is refused before it is parsed when there is too much in it', () => {
    expect(complaintsOf('\n'.repeat(60_000))).toEqual(['1: the file has more than 50000 tokens'])
    expect(complaintsOf(`tasks: ${'['.repeat(200)}`)).toEqual(['1: the file is nested deeper than 100 levels'])
  })

  it('never shows a secret', () => {
    const text = 'tasks: { executor: { token: ["sesame"] } }\ndatabase: { url: "mysql://u:sesame@h/d" }\nfoo: sesame\n'
    const complaints = complaintsOf(text)
    expect(complaints).toHaveLength(3)
    expect(complaints.join('\n')).not.toContain('sesame')
  })
})

describe('a file in the names of other schedulers', () => {
  it('says what it says in ours: the tasks of PinchTab', () => {
    const text = 'scheduler: { enabled: false, maxQueueSize: 7, maxPerAgent: 6, maxInflight: 5, resultTTLSec: 4 }\n'
    expect(layerOf(text)).toEqual(
      layerOf('tasks: { enabled: false, max_queue: 7, max_per_agent: 6, max_inflight: 5, result_ttl_seconds: 4 }\n'),
    )
    expect(layerOf('scheduler: { max_per_agent_inflight: 3 }').get('tasks.max_per_agent_inflight')).toBe(3)
  })

  it('says what it says in ours: the queue of GoClaw', () => {
    const settings = '{ mode: interrupt, cap: 3, drop: new, debounce_ms: 0 }'
    expect(layerOf(`queue: ${settings}`)).toEqual(layerOf(`sessions: ${settings}`))
  })

  it('may be JSON with comments', () => {
    const text = '{\n  // PinchTab\n  "scheduler": { "enabled": true /* on */ }\n}\n'
    expect([...layerOf(text)]).toEqual([['tasks.enabled', true]])
  })
})

describe('a file with little in it', () => {
  it.each([[''], ['# nothing yet\n'], ['tasks:\nlanes:\n']])('is fine: %j', (text) => {
    expect([...layerOf(text)]).toEqual([])
  })

  it('may give sizes of 0, which say nothing, and durations of 0, which say "off"', () => {
    const read = readConfigText(
      'lanes: { main: 0 }\ntasks: { max_queue: 0, result_ttl_seconds: 0s }\nsessions: { debounce_ms: 0 }\nserver: { rate_limit: { per_second: 0 } }\n',
    )
    if (!read.ok) throw new Error('refused')
    expect(read.layer.kept).toEqual(['lanes.main', 'tasks.max_queue', 'tasks.result_ttl_seconds'])
    expect([...read.layer.values]).toEqual([
      ['sessions.debounce_ms', 0],
      ['server.rate_limit.per_second', 0],
    ])
  })

  it('may name lanes of its own, also with a dot, and the alias of one', () => {
    expect([...layerOf('lanes: { gpu: 2, "eu.west": 3, delegate: 7 }')]).toEqual([
      ['lanes.gpu', 2],
      ['lanes.eu.west', 3],
      ['lanes.team', 7],
    ])
  })
})
