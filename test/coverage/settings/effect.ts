import type { World } from '../../http-scenarios/world.ts'

/** How a setting is shown to matter: a check that changes it on servers of its own, or a test elsewhere that does. */
export type Effect = ((world: World) => Promise<void>) | readonly [file: string, title: string]

export type Effects = Readonly<Record<string, Effect>>
