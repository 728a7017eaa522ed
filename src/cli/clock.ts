import { instant, type Instant } from '../domain/instant.ts'

/** The host's wall clock. Only the outermost edge reads it; everything further in takes `now` as an argument. */
export const systemNow = (): Instant => instant(Date.now())
