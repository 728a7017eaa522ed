import { it } from 'vitest'
import { runSeed } from './run-seeds.ts'
import { Violation } from '../support/violation.ts'
it('x', () => {
  const from = Number(process.env.FROM ?? 0), n = Number(process.env.N ?? 100)
  let bad = 0
  for (let s = from; s < from + n && bad < 6; s++) {
    try {
      const r = runSeed(s)
      if (r instanceof Violation) { bad++; console.log(s, r.invariant, r.message) }
    } catch (e) { bad++; console.log(s, String((e as Error).stack).split('\n').slice(0, 8).join('\n')) }
  }
  console.log('bad', bad)
}, 600000)
