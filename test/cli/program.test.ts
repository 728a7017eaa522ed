import { describe, expect, it } from 'vitest'
import { run } from './run.ts'

describe('without a command', () => {
  it('says what this is, what it can do and what to try, with a live example', async () => {
    const { code, stdout } = await run([])
    expect(code).toBe(0)
    expect(stdout).toContain('the scheduling control plane for AI agents')
    expect(stdout).toContain('escapement cron preview "0 9 * * 1-5" --tz Europe/Berlin')
    expect(stdout).toContain('escapement serve')
    expect(stdout).toContain('cron next')
    expect(stdout).toContain('List all commands with escapement --help')
    expect(stdout).toContain('2026-11-16 09:00   2026-11-16T08:00:00.000Z')
  })
})

describe('a question about the program', () => {
  it('is answered: its version', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
  })

  it.each([[['--help']], [['help']], [['help', 'cron']], [['cron', '--help']], [['cron', 'preview', '--help']]])(
    'is answered: %j',
    async (args) => {
      const { code, stdout } = await run(args)
      expect(code).toBe(0)
      expect(stdout).toContain('Usage: escapement')
    },
  )
})

describe('a command line that is not understood', () => {
  const cases: readonly (readonly [args: readonly string[], complaint: string])[] = [
    [['serv'], "unknown command 'serv'"],
    [['cron', 'nxt'], "unknown command 'nxt'"],
    [['cron'], 'Usage: escapement cron'],
    [['cron', 'preview'], "missing required argument 'expr'"],
    [['cron', 'preview', '* * * * *', '--zone', 'UTC'], "unknown option '--zone'"],
    [['cron', 'preview', '*', '*', '*', '*', '*'], 'too many arguments'],
    [['cron', 'next', 'now'], 'too many arguments'],
    [['help', 'schedule'], "unknown command 'schedule'\n(Did you mean schedules?)"],
    [['schedules'], 'Usage: escapement schedules'],
    [['schedules', 'get'], "missing required argument 'id'"],
    [['schedules', 'creat'], 'Did you mean create?'],
    [['runs', 'list', '--shedule', 'x'], 'Did you mean --schedule?'],
  ]

  it.each(cases)('is a usage error: %j', async (args, complaint) => {
    const { code, stdout, stderr } = await run(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(complaint)
  })
})
