import type { Plugin } from 'vitest/config'

/**
 * Keeps what vitest itself loads (the set-up of a database server) out of its store of compiled modules: it takes such a
 * module out of there as bytes, and cannot name the lines of an error in it.
 */
export const compiledForTestsOnly: Plugin = {
  name: 'escapement:compiled-for-tests-only',
  configureVitest: ({ experimental_defineCacheKeyGenerator: defineKey }) => {
    defineKey(({ environment }) => (environment.name === '__vitest__' ? false : undefined))
  },
}
