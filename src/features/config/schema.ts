import { configPatchSchema, configViewSchema } from '../../platform/config/view.ts'
import { named } from '../../api/fields.ts'

export const config = named('Config', configViewSchema, 'All settings with their values and sources.')
export const configPatch = named('ConfigPatch', configPatchSchema, 'Settings that take effect at once.')
