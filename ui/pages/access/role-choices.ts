import type { Choice } from '../../forms/field.ts'

/** The roles there are, the least first. */
export const ROLE_CHOICES: readonly Choice[] = (['viewer', 'member', 'admin', 'owner'] as const).map((value) => ({
  ...{ value, label: `role.${value}` as const },
}))
