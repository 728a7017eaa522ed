import { parseZone } from '../time/zone.ts'
import { IANA_PLACES } from './iana-places.ts'
import { CHINESE_PLACES, COMMON_PLACES } from './place-names.ts'

/** Short names of zones that mean one thing here and another there. */
const AMBIGUOUS =
  'est edt cst cdt mst mdt pst pdt et ct mt pt bst ist cet cest eet eest wet jst kst aest aedt sst ast msk'

const plain = (name: string): string => name.toLowerCase().replaceAll('_', ' ')

function tableOf(): ReadonlyMap<string, string> {
  const table = new Map<string, string>()
  for (const [area, places] of Object.entries(IANA_PLACES))
    for (const place of places.split(' ')) {
      const [city = place] = place.split('/').slice(-1)
      if (!table.has(plain(city))) table.set(plain(city), `${area}/${place}`)
    }
  for (const named of [COMMON_PLACES, CHINESE_PLACES])
    for (const [zone, places] of Object.entries(named)) for (const place of places.split(',')) table.set(place, zone)
  return table
}

const PLACES = tableOf()

/** The most words a name of a place has. */
export const MOST_WORDS = 4

/** The zone that a place, or a zone by its own name, stands for; null: nobody knows it. */
export function zoneOfPlace(name: string): string | null {
  const place = PLACES.get(plain(name.trim()))
  if (place !== undefined) return place
  if (!name.includes('/')) return null
  const zone = parseZone('timezone', name.trim())
  return zone.ok ? zone.value.name : null
}

/** Whether it is the short name of several zones. */
export const isAmbiguousZone = (name: string): boolean => AMBIGUOUS.split(' ').includes(name.toLowerCase())

/** Chinese places, the longest first, so that one which begins with another is found. */
export const CHINESE_PLACE_NAMES: readonly string[] = Object.values(CHINESE_PLACES)
  .flatMap((places) => places.split(','))
  .sort((a, b) => b.length - a.length)

/** Names of places without Chinese ones, to tell what somebody probably meant. */
export const PLACE_WORDS: readonly string[] = [...PLACES.keys()].filter((name) => /^[a-z ]+$/.test(name))
