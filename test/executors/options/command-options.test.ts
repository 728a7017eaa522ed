import { describe, expect, it } from 'vitest'
import {
  commandRefusal,
  fillArgs,
  fillEnvironment,
  isInside,
  NO_COMMANDS,
  parseCommandOptions,
} from '../../../src/executors/command/options.ts'

const read = (given: Readonly<Record<string, unknown>>) => {
  const parsed = parseCommandOptions('executor', { kind: 'command', program: '/bin/date', ...given })
  return parsed.ok ? parsed.value : parsed.flaws.map(({ field, message }) => `${field} ${message}`)
}

describe('how a program is started', () => {
  it('is little unless more is said', () => {
    expect(read({})).toEqual({
      ...{ preset: null, resume: false, service: null },
      ...{ kind: 'command', program: '/bin/date', args: [], cwd: null, env: {}, stdin: null, output_bytes: 1_048_576 },
    })
  })

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no program', { program: undefined }, 'executor.program is missing'],
    ['a name to be looked for', { program: 'date' }, 'executor.program is not an absolute path'],
    ['a way around', { program: '/bin/../etc/x' }, 'executor.program is not an absolute path'],
    [
      'a program that a payload chooses',
      { program: '/bin/{{payload.x}}' },
      'executor.program must not contain a template',
    ],
    ['a command line', { args: '-u now' }, 'executor.args must be a list of arguments'],
    [
      'a template among other text',
      { args: ['--at={{payload.x}}'] },
      'executor.args.0 mixes a template with other text; use the template alone',
    ],
    [
      'two templates',
      { args: ['{{run_id}}{{attempt}}'] },
      'executor.args.0 mixes a template with other text; use the template alone',
    ],
    [
      'a template that stands for nothing',
      { args: ['{{paylod.x}}'] },
      'executor.args.0 has an unknown placeholder: {{paylod.x}}',
    ],
    [
      'a secret',
      { args: ['{{secret:KEY}}'] },
      'executor.args.0 must not reference a secret; only headers and bodies of agents may',
    ],
    ['a number', { args: [1] }, 'executor.args.0 must be a text'],
    ['NUL', { args: ['a\u0000b'] }, 'executor.args.0 is too long or contains NUL'],
    ['a name with a sign in it', { env: { 'A=B': 'x' } }, 'executor.env.A=B is not a valid variable name'],
    ['what was shown hidden', { env: { TOKEN: '***' } }, 'executor.env.TOKEN is masked; send the actual value'],
    ['no output at all', { output_bytes: 0 }, 'executor.output_bytes is out of range'],
    ['a slip of the pen', { argz: [] }, 'executor.argz is not a known field of a command; did you mean args?'],
  ])('is refused with %s', (_, given, flaw) => {
    expect(read(given)).toEqual([flaw])
  })

  it('puts a value in one place, whatever it is', () => {
    const options = read({
      args: ['-x', '{{payload.a}}', '{{ payload.b }}', '{{attempt}}', '{}'],
      env: { N: '{{run_id}}', M: 'm' },
    })
    if (Array.isArray(options)) throw new Error(options.join())
    const payload = { a: 'one two "{{run_id}}"', b: { c: [1] } }
    const values = { run_id: 'r', job_run_id: 'j', scheduled_time: '', attempt: 2, payload }
    expect(fillArgs(options as never, values)).toEqual(['-x', 'one two "{{run_id}}"', '{"c":[1]}', '2', '{}'])
    expect(fillEnvironment(options as never, values)).toEqual({ N: 'r', M: 'm' })
  })
})

describe('what the operator lets agents start', () => {
  const rules = { enabled: true, programs: ['/bin/date'], directories: ['/srv/a', '/srv/b/'] }
  const command = { program: '/bin/date', cwd: null }

  it.each<[string, object, object, string | null]>([
    ['is nothing, unless somebody says so', command, NO_COMMANDS, 'kind'],
    ['is nothing while it is off, whatever is listed', command, { ...rules, enabled: false }, 'kind'],
    ['is what is listed', command, rules, null],
    ['is nothing that only looks like it', { ...command, program: '/bin/date ' }, rules, 'program'],
    ['is in its directories', { ...command, cwd: '/srv/a' }, rules, null],
    ['is below them', { ...command, cwd: '/srv/b/c' }, rules, null],
    ['is not beside them', { ...command, cwd: '/srv/abc' }, rules, 'cwd'],
    ['is not above them', { ...command, cwd: '/srv' }, rules, 'cwd'],
    ['has no directory to choose where none is listed', { ...command, cwd: '/' }, { ...rules, directories: [] }, 'cwd'],
  ])('%s', (_, asked, given, field) => {
    expect(commandRefusal(asked as typeof command, given as typeof rules)?.field ?? null).toBe(field)
  })

  it('is told apart by whole names of directories', () => {
    expect(isInside('/a/b', '/a')).toBe(true)
    expect(isInside('/a', '/a/')).toBe(true)
    expect(isInside('/ab', '/a')).toBe(false)
    expect(isInside('/ab', '/')).toBe(true)
  })
})
