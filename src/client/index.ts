// The exports of `escapement/client`, for Node and browsers. It loads only the files of this folder.
export { createClient, type Client } from './client.ts'
export type { CallOptions } from './calls.ts'
export { EscapementError, type ClientCode } from './errors.ts'
export type { EventsFilter, EventsOptions, EventsReset } from './events.ts'
export type { ClientOptions } from './request.ts'
export type { SimulationOptions } from './simulation.ts'
