import { beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../docs/tracked-files.ts'
import { ROOT } from '../tooling/root.ts'
import { run } from './run.ts'

const GUIDE = 'docs/guides/simulate.md'
const SAMPLE = 'examples/every-five-seconds.json'
const BLOCK = /^```console\n\$ escapement (?<command>.*)\n(?<printed>[\s\S]*?)^```$/gm
const examples = [...textOf(GUIDE).matchAll(BLOCK)].map(({ groups }) => [
  groups?.['command'] ?? '',
  groups?.['printed'] ?? '',
])

// Commands load it when they are asked for; a busy machine takes its time.
beforeAll(
  () => Promise.all([import('../../src/serve/simulate.ts'), import('../../src/features/simulation/cli-input.ts')]),
  60_000,
)

const simulate = (...args: readonly string[]) =>
  run(['simulate', '--from', '2026-11-16T09:00:00Z', ...args], '', { cwd: ROOT })

/** What became of each occurrence, as a program reads it. */
async function rowsOf(...args: readonly string[]) {
  const { stdout } = await simulate('--file', SAMPLE, '--json', ...args)
  return (JSON.parse(stdout) as { readonly rows: readonly Row[] }).rows
}
interface Row {
  readonly status: string
  readonly reason: string
  readonly trigger: string
  readonly attempt: number
  readonly started_at: string | null
  readonly superseded: boolean
}

describe('the guide to simulations', () => {
  it('shows the sample as it is', () => {
    expect(textOf(GUIDE)).toContain(textOf(SAMPLE))
    expect(examples).toHaveLength(4)
  })

  it.each(examples)('prints what it says: escapement %s', async (command, printed) => {
    expect(await run(command.split(' '), '', { cwd: ROOT })).toEqual({ code: 0, stdout: printed, stderr: '' })
  })
})

describe('the sample of every five seconds', () => {
  it('supersedes the last with attempt 1 while its target takes twelve seconds', async () => {
    const rows = await rowsOf('--for', '10m', '--takes', '12s')
    expect(rows).toHaveLength(119)
    expect(rows.slice(0, -1).every(({ status, superseded }) => status === 'cancelled' && superseded)).toBe(true)
    expect(new Set(rows.map(({ attempt }) => attempt))).toEqual(new Set([1]))
  })

  it('counts its attempts on while its target answers 500', async () => {
    const rows = await rowsOf('--for', '1m', '--fails', '500')
    expect(rows.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['failed']))
  })

  it('catches up with the newest three after a stall of a minute, a second apart, and skips the rest', async () => {
    const stall = ['--for', '3m', '--takes', '2s', '--stall', '60s@1m']
    const beside = await rowsOf(...stall, '--set', 'overlap_action=ALLOW', 'concurrency_policy=PARALLEL')
    const caught = beside.slice(-14, -11)
    expect(caught.map(({ trigger }) => trigger)).toEqual(['catchup', 'catchup', 'schedule'])
    expect(caught.map(({ started_at: at }) => at?.slice(11, 19))).toEqual(['09:02:00', '09:02:01', '09:02:02'])
    expect(beside.filter(({ reason }) => reason === 'misfire')).toHaveLength(10)
    const own = await rowsOf(...stall)
    expect(own.slice(-14, -11).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'success'])
  })
})

describe('escapement simulate', () => {
  it('takes YAML with durations from stdin, and fields over it', async () => {
    const yaml = '- name: A\n  every_seconds: 5m\n- name: B\n  every_seconds: 10m\n  timeout_seconds: 1h\n'
    const args = ['simulate', '-f', '-', '--for', '1h', '--from', '2026-11-16T09:00:00Z', '--overlap', 'SKIP', '--csv']
    const { code, stdout } = await run(args, yaml)
    const lines = stdout.trimEnd().split('\r\n')
    expect([code, lines.length, lines[0]?.split(',').slice(0, 3)]).toEqual([
      ...[0, 1 + 11 + 5, ['schedule_id', 'schedule', 'nominal_time']],
    ])
    expect(lines[1]).toContain('new_1,A,2026-11-16T09:05:00.000Z,schedule,success')
  })

  it('keeps formulas and commas of other people in their cells', async () => {
    const { stdout } = await simulate('--name', '=1+1, "x"', '--every', '30m', '--for', '40m', '--csv')
    expect(stdout).toContain(`new_1,"'=1+1, ""x""",2026-11-16T09:30:00.000Z`)
  })

  it('says how far it is to whoever sits there, and nothing to a pipe', async () => {
    const args = ['simulate', '--every', '1', '--for', '2m', '--from', '2026-11-16T09:00:00Z', '--rows', '1']
    const seen = await run(args, '', { columns: 80, variables: { NO_COLOR: '1' } })
    expect(seen.stderr).toContain('Simulating [')
    expect(seen.stderr.endsWith('\r\u001b[K')).toBe(true)
    expect(seen.stdout.split('\n').every((line) => line.length <= 80 || line.startsWith('|'))).toBe(true)
    expect((await run(args)).stderr).toBe('')
  })

  it.each<[readonly string[], number, string]>([
    [[], 2, 'Nothing to simulate.'],
    [['-f', 'nowhere.json'], 2, 'Cannot read --file nowhere.json'],
    [['-f', 'README.md'], 2, '--file README.md'],
    [['--every', '5s', '--stall', '60s'], 2, 'Invalid --stall "60s". Allowed: DURATION@START'],
    [['--every', '5s', '--takes', 'long'], 2, 'Invalid --takes "long"'],
    [['--every', '5s', '--fails', '7'], 2, 'Invalid --fails "7"'],
    [['--every', '5s', '--set', 'SKIP'], 2, 'Invalid --set "SKIP"'],
    [['--every', '5s', '--to', '1h', '--for', '1h'], 2, '--for and --to cannot be combined'],
    [['--cron', '61 * * * *'], 1, '--cron minute 61 is above 59'],
    [['--every', '5s', '--against', 'overlap_action=NO'], 1, '--against (against.0.set.overlap_action)'],
    [['--every', '5s', '--for', '200d'], 1, '--for is out of range'],
    [['--all'], 3, 'server'],
  ])('says what to do about %j', async (args, code, complaint) => {
    const ended = await run(['simulate', ...args], '', { cwd: ROOT })
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.stderr).toContain(complaint)
  })
})
