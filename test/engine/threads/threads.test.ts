import { expect, it } from 'vitest'
import type { Log } from '../../../src/engine/loops/health.ts'
import { openThreads } from '../../../src/engine/threads/threads.ts'

it.each([
  { what: 'a program without the modules of its threads says so', isFromSource: false, levels: ['warn'] },
  { what: 'sources say nothing', isFromSource: true, levels: [] },
])('$what', async ({ isFromSource, levels }) => {
  const said: Parameters<Log>[0][] = []
  const { ports, close } = openThreads((entry) => void said.push(entry), isFromSource)
  expect(ports).toEqual({ simulations: undefined, computations: undefined })
  expect(said.map(({ level }) => level)).toEqual(levels)
  await close()
})
