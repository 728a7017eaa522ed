import { expectSoundWorlds } from './faulted-worlds.ts'

// Two files, so that both cores have work.
expectSoundWorlds('even seeds', 0)
