/** Which way bytes go. */
export type Direction = 'to_server' | 'to_node'

export const DIRECTIONS: readonly Direction[] = ['to_server', 'to_node']

/** How the road between a node and the server is. */
export type Weather =
  | { readonly kind: 'clear' }
  /** Whoever comes anew is turned away. */
  | { readonly kind: 'refusing' }
  /** Everything is accepted and nothing arrives. It is kept: when the road clears it goes on, late and whole. */
  | { readonly kind: 'silent'; readonly directions: readonly Direction[] }
  | {
      readonly kind: 'slow'
      /** How long the next bytes take; another time for each. */
      readonly delayMs: () => number
      /** Null: as fast as the machine is. */
      readonly bytesPerSecond: number | null
    }

export const CLEAR: Weather = { kind: 'clear' }

/** Whether nothing arrives in a direction. */
export const isSilent = (weather: Weather, direction: Direction): boolean =>
  weather.kind === 'silent' && weather.directions.includes(direction)
