import { expectSoundWorlds } from './faulted-worlds.ts'

expectSoundWorlds('odd seeds', 1)
