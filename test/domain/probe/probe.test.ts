import { describe, expect, it } from 'vitest'
import { parseProbe, type Probe } from '../../../src/domain/probe/probe.ts'
import {
  decideProbe,
  parseProbeAnswer,
  describeProbe,
  type ProbeResult,
  probeTargetText,
} from '../../../src/domain/probe/verdict.ts'

const read = (given: unknown): Probe => {
  const probe = parseProbe('probe', given)
  if (!probe.ok) throw new Error(JSON.stringify(probe.flaws))
  return probe.value
}

const URL = 'https://a.example/x?key=1'

describe('a probe', () => {
  it('is read with its defaults, and null is what is left out', () => {
    expect(read({ kind: 'http', url: URL, headers: null, when: null, changed: false })).toEqual({
      ...{ kind: 'http', url: URL, method: 'GET', headers: {}, body: null },
      ...{ when: null, changed: null, onError: 'run', timeoutSeconds: 5 },
    })
    expect(read({ kind: 'HTTP', url: URL, body: '{}' })).toMatchObject({ kind: 'http', method: 'POST' })
    expect(read({ kind: 'state', of: { schedule_id: 'sch_1' }, when: { op: 'exists' } })).toMatchObject({
      of: { scheduleId: 'sch_1', session: null },
    })
  })

  it.each([
    ['no kind', {}, 'probe.kind'],
    ['no address', { kind: 'http' }, 'probe.url'],
    ['another scheme', { kind: 'http', url: 'file:///etc/passwd' }, 'probe.url'],
    ['a password', { kind: 'http', url: 'https://a:b@c.example' }, 'probe.url'],
    ['a template', { kind: 'http', url: `${URL}&b={{run_id}}` }, 'probe.url'],
    ['a secret', { kind: 'http', url: URL, headers: { a: '{{secret:S}}' } }, 'probe.headers.a'],
    ['a hidden value', { kind: 'http', url: URL, headers: { authorization: '***' } }, 'probe.headers.authorization'],
    ['a line break', { kind: 'http', url: URL, headers: { a: 'b\r\nc: d' } }, 'probe.headers.a'],
    ['the host', { kind: 'http', url: URL, headers: { Host: 'b' } }, 'probe.headers.Host'],
    ['a body without POST', { kind: 'http', url: URL, method: 'GET', body: 'x' }, 'probe.body'],
    ['a condition on HEAD', { kind: 'http', url: URL, method: 'HEAD', when: { op: 'exists' } }, 'probe.when'],
    ['a pointer on HEAD', { kind: 'http', url: URL, method: 'HEAD', changed: '/a' }, 'probe.changed'],
    ['too much time', { kind: 'http', url: URL, timeout_seconds: 61 }, 'probe.timeout_seconds'],
    ['another word', { kind: 'http', url: URL, on_error: 'skip' }, 'probe.on_error'],
    ['a field of another kind', { kind: 'http', url: URL, program: '/bin/x' }, 'probe.program'],
    ['a path that climbs', { kind: 'command', program: '/bin/../x' }, 'probe.program'],
    ['a relative program', { kind: 'command', program: 'sh' }, 'probe.program'],
    ['arguments as a text', { kind: 'command', program: '/bin/x', args: 'a' }, 'probe.args'],
    ['nothing to decide by', { kind: 'state' }, 'probe.when'],
    ['changes of what is stored', { kind: 'state', when: { op: 'exists' }, changed: true }, 'probe.changed'],
  ])('refuses %s', (_, given, field) => {
    const probe = parseProbe('probe', given)
    expect(probe.ok ? [] : probe.flaws.map((flaw) => flaw.field)).toEqual([field])
  })

  it('is said in words, without what may be a credential', () => {
    const probe = read({ kind: 'http', url: URL, when: { path: '/n', op: '>', value: 0 }, changed: '/n' })
    expect(probeTargetText(probe)).toBe('GET https://a.example/x?…')
    expect(describeProbe(probe)).toBe(
      'Checks GET https://a.example/x?… first and runs the agent only if /n > 0, and /n has changed. ' +
        'If the check fails, the agent runs anyway.',
    )
    expect(describeProbe(read({ kind: 'command', program: '/bin/x', on_error: 'fail' }))).toBe(
      'Checks /bin/x first and runs the agent only if it exits with code 0. If the check fails, the attempt fails.',
    )
  })
})

describe('what was seen', () => {
  const digest = (text: string): string => `#${text}`
  const seen = (value: unknown): ProbeResult => ({ kind: 'seen', value, how: 'it answered 200', mark: null })
  const judge = (given: object, sight: ProbeResult, before: string | null = null) =>
    decideProbe(read({ kind: 'http', url: URL, ...given }), sight, { before, digest })

  it('is yes when there is something, and no when there plainly is nothing', () => {
    expect(judge({}, seen('x'))).toMatchObject({ answer: 'yes', sentence: 'it answered 200', fingerprint: null })
    expect(judge({}, { kind: 'nothing', how: 'it answered 204' }).answer).toBe('no')
    expect(judge({}, { kind: 'failed', message: 'it answered 500' })).toMatchObject({ answer: 'error' })
  })

  it('is no when the condition does not hold, whatever has changed', () => {
    const given = { when: { path: '/n', op: '>', value: 0 }, changed: true }
    expect(judge(given, seen({ n: 0 }))).toMatchObject({ answer: 'no', sentence: '/n is 0', fingerprint: null })
  })

  it('is yes only for what has changed, where that is asked', () => {
    const first = judge({ changed: true }, seen({ b: 1, a: [2] }))
    expect(first).toMatchObject({ answer: 'yes', sentence: 'the answer was not checked before' })
    expect(judge({ changed: true }, seen({ a: [2], b: 1 }), first.fingerprint).answer).toBe('no')
    expect(judge({ changed: true }, seen({ a: [3], b: 1 }), first.fingerprint)).toMatchObject({
      ...{ answer: 'yes', sentence: 'the answer has changed since the last check' },
    })
    const at = judge({ changed: '/a' }, seen({ a: 1, now: 1 }))
    expect(judge({ changed: '/a' }, seen({ a: 1, now: 2 }), at.fingerprint)).toMatchObject({
      ...{ answer: 'no', sentence: '/a has not changed since the last check' },
    })
  })

  it('is told apart by its mark where it has no content', () => {
    const head = (mark: string): ProbeResult => ({ kind: 'seen', value: mark, how: '', mark })
    const first = judge({ method: 'HEAD', changed: true }, head('"a"'))
    expect(judge({ method: 'HEAD', changed: true }, head('"a"'), first.fingerprint).answer).toBe('no')
    expect(judge({ method: 'HEAD', changed: true }, head('"b"'), first.fingerprint).answer).toBe('yes')
  })

  it('is read as JSON or as words, and never so deep that nobody can compare it', () => {
    expect(parseProbeAnswer('{"a":1}')).toEqual({ a: 1 })
    expect(parseProbeAnswer('"[[["')).toBe('[[[')
    expect(parseProbeAnswer('three are open')).toBe('three are open')
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(parseProbeAnswer(deep)).toBe(deep)
    expect(judge({ changed: true }, seen(parseProbeAnswer(deep))).answer).toBe('yes')
  })
})
