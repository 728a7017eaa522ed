import { describe, expect, it } from 'vitest'
import { createStopRequests } from '../../../src/domain/session/stop.ts'

describe('signals that ask a process to end', () => {
  it('drain first and end at once the second time, and say nothing new after that', () => {
    const requested = createStopRequests()
    expect([requested('SIGTERM', 0), requested('SIGTERM', 1_000), requested('SIGTERM', 5_000)]).toEqual([
      'drain',
      'now',
      null,
    ])
  })

  it('are one request when the same one comes again within a second', () => {
    const requested = createStopRequests()
    expect([requested('SIGTERM', 0), requested('SIGTERM', 999), requested('SIGINT', 999)]).toEqual([
      'drain',
      null,
      'now',
    ])
  })
})
