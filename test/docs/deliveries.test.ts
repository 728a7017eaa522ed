import { expect, it } from 'vitest'
import { ALERT_KINDS, ALERT_SUBJECTS, SCHEDULE_ALERT_KINDS } from '../../src/domain/alerts.ts'
import { DELIVERY_TRIES } from '../../src/domain/delivery/delivery-retry.ts'
import { DELIVERY_STATES } from '../../src/domain/delivery/delivery.ts'
import { textOf } from './tracked-files.ts'

const page = textOf('docs/concepts/deliveries.md')

const UNITS: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 }

it('the page of deliveries says when tries follow each other', () => {
  const waits = [...page.matchAll(/^\|\s+\d+(?: and on)?\s+\| (\d+) (s|min|h)\s+\|$/gm)]
  expect(waits.map(([, count, unit = '']) => Number(count) * (UNITS[unit] ?? 0))).toEqual([...DELIVERY_TRIES.ladderMs])
})

it('the page of deliveries names every way a delivery can stand, and the limits of tries', () => {
  for (const state of DELIVERY_STATES) expect(page).toMatch(new RegExp(`(?:--> ${state}:|\\[\\*\\] --> ${state})`))
  expect(page).toContain(
    `given up after ${DELIVERY_TRIES.maxCallbackTries} tries, a message to a\ntarget after ${DELIVERY_TRIES.maxMessageTries}`,
  )
  expect(page).toContain(`After ${DELIVERY_TRIES.maxFailuresInARow} failures in a row`)
  expect(page).toContain(`takes at most ${DELIVERY_TRIES.timeoutMs / 1_000} s`)
})

it('the page of alerts says every kind and what it is about', () => {
  const rows = [...textOf('docs/concepts/alerts.md').matchAll(/^\| `(\w+)`\s+\| (\w+)\s+\|/gm)]
  expect(rows.map(([, kind]) => kind).toSorted()).toEqual(ALERT_KINDS.toSorted())
  for (const [, kind = '', subject = ''] of rows) {
    expect(ALERT_SUBJECTS, kind).toContain(subject)
    if (subject === 'schedule') expect(SCHEDULE_ALERT_KINDS).toContain(kind)
  }
})
