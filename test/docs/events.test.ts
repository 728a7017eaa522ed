import { expect, it } from 'vitest'
import { EVENT_KINDS, EVENT_PERMISSIONS } from '../../src/features/events/schema.ts'
import { textOf } from './tracked-files.ts'

it('the page of events names every kind, and what it needs', () => {
  const rows = textOf('docs/concepts/events.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .filter(([, kind = '']) => (EVENT_KINDS as readonly string[]).includes(kind))
    .map(([, kind, , , needs]) => [kind, needs])
  expect(rows).toEqual(EVENT_KINDS.map((kind) => [kind, EVENT_PERMISSIONS[kind]]))
})
