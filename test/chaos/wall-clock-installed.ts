import { installWallClock } from './wall-clock.ts'

// Imported before everything else, so that nobody gets hold of the real clock first.
installWallClock()
