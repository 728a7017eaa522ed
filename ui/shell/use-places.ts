import { NAVIGATION, type Place, type PlaceGroup } from '../app/navigation.ts'
import { useMe } from '../api/session.ts'

/** The menu as far as the person may go. */
export function usePlaces(): readonly PlaceGroup[] {
  const me = useMe()
  const isOpen = ({ permission }: Place): boolean => me?.permissions.includes(permission) === true
  return NAVIGATION.map(({ heading, places }) => ({ heading, places: places.filter(isOpen) })).filter(
    ({ places }) => places.length > 0,
  )
}
