// Schedules that are not due during the benchmark: all of them in a month half a year away, at different minutes.

/** The cron expression of the i-th schedule. */
export function farAway(i) {
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1
  return `${i % 60} ${Math.floor(i / 60) % 24} ${(Math.floor(i / 1_440) % 28) + 1} ${month} *`
}
