import { files } from './files.ts'
import { INPUT_TARGETS } from './inputs.ts'
import { outbound } from './outbound.ts'
import { STREAM_TARGETS } from './streams.ts'
import type { Target } from './target.ts'
import { TEXT_TARGETS } from './texts.ts'
import { TIME_TARGETS } from './times.ts'
import { WIRE_TARGETS } from './wire.ts'

/** Everything that is tried. */
export const TARGETS: readonly Target[] = [
  ...[...TIME_TARGETS, ...TEXT_TARGETS, ...STREAM_TARGETS, ...WIRE_TARGETS, outbound, files, ...INPUT_TARGETS],
]
