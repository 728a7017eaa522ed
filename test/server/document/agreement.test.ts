import { describe, expect, it } from 'vitest'
import { compare, told } from './compare.ts'
import { CONVENTIONS } from './document.ts'
import { DOCUMENT, FAMILIES, SEED } from './operations.ts'

// The OpenAPI document and the readers of the server decide about the same bodies: those that fit, and those that are
// nearly right at every place of the document. What one refuses the other refuses, too, but for rules that JSON Schema
// cannot express.

const BODIES_OF_FAMILY = 10_000
const FEWEST_ACCEPTED = 0.3

describe.each(FAMILIES)('bodies of %s', (_family, operations) => {
  const count = Math.ceil(BODIES_OF_FAMILY / operations.length)

  it.each(operations)('$id: the document and the server agree', ({ spec, described }) => {
    const { bodies, meant, accepted, disagreements } = compare(spec, described, { seed: SEED, count })
    expect(told(disagreements, SEED)).toBe('')
    expect(bodies).toBeGreaterThanOrEqual(count)
    expect(accepted / meant).toBeGreaterThanOrEqual(FEWEST_ACCEPTED)
  })
})

describe('the document', () => {
  it('says in words what JSON Schema cannot', () => {
    for (const sentence of CONVENTIONS)
      expect(DOCUMENT['info']).toHaveProperty('description', expect.stringContaining(sentence))
  })

  it('describes the bodies of most families', () => {
    expect(FAMILIES.length).toBeGreaterThan(15)
  })
})
