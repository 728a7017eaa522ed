import { configPatchSchema, configViewSchema } from './config/view.ts'
import { named } from './shape.ts'

export const config = named('Config', configViewSchema, 'Every setting as it holds, and who said so.')
export const configPatch = named('ConfigPatch', configPatchSchema, 'Settings that take effect at once.')
