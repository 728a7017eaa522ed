import { expect } from 'vitest'
import { explainWhy, type Why } from '../../src/domain/reasons.ts'

/** Every placeholder of the sentence was filled from the evidence. */
export function expectExplained(why: Why): void {
  const sentence = explainWhy(why)
  expect(sentence).not.toContain('unknown')
  expect(sentence).not.toContain('{')
  expect(why.rule).not.toBe('')
}
