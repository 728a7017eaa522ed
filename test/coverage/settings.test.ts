import { describe, expect, it, vi } from 'vitest'
import { CONFIG_KEYS } from '../../src/platform/config/keys.ts'
import { keysOf } from '../../src/platform/config/tree.ts'
import { titlesIn } from '../docs/test-titles.ts'
import { textOf } from '../docs/tracked-files.ts'
import { inWorld } from '../http-scenarios/world.ts'
import type { Effect, Effects } from './settings/effect.ts'
import { ENGINE_EFFECTS } from './settings/engine.ts'
import { OTHER_EFFECTS } from './settings/others.ts'
import { SERVER_EFFECTS } from './settings/server.ts'

// Each starts a server, which is work for a machine of two cores.
vi.setConfig({ maxConcurrency: 3 })

const EFFECTS: Effects = { ...SERVER_EFFECTS, ...ENGINE_EFFECTS, ...OTHER_EFFECTS }

const isCheck = (effect: Effect): effect is Exclude<Effect, readonly unknown[]> => typeof effect === 'function'

describe('the settings', () => {
  it('are each shown to have an effect, and no others are', () => {
    expect(Object.keys(EFFECTS).toSorted()).toEqual(
      keysOf(CONFIG_KEYS)
        .map(({ path }) => path)
        .toSorted(),
    )
  })

  it('are shown by tests that are there', () => {
    const missing = Object.entries(EFFECTS).flatMap(([key, effect]) =>
      isCheck(effect) || titlesIn(textOf(effect[0])).includes(effect[1]) ? [] : [key],
    )
    expect(missing).toEqual([])
  })
})

describe('a setting that is changed has an effect', () => {
  // A check that several settings share is executed once, and each of them has its result.
  const results = new Map<Effect, Promise<void>>()

  for (const [key, effect] of Object.entries(EFFECTS))
    if (isCheck(effect))
      it.concurrent(
        key,
        () => {
          const result = results.get(effect) ?? inWorld(effect)
          results.set(effect, result)
          return result
        },
        90_000,
      )
})
