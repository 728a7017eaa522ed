import { queryOptions } from '@tanstack/react-query'
import type { AsCodeDocument } from '../../../src/features/as-code/schema.ts'
import { writeYaml } from '../../../src/platform/yaml/yaml.ts'
import { api } from '../../api/client.ts'

/** The first line tells editors how to complete and check the file. */
const asYaml = (document: AsCodeDocument): string =>
  writeYaml(document, {
    comment: [`yaml-language-server: $schema=${window.location.origin}/schema/escapement.schema.json`],
  })

/** What is stored as a file of YAML; kinds with commas between them, all for none. */
export const exportedFile = (kinds: string | undefined) =>
  queryOptions({
    queryKey: ['asCode', 'export', kinds ?? ''],
    queryFn: async () => asYaml(await api.asCode.export(kinds === undefined ? {} : { kinds })),
    // It covers all objects and no event invalidates it, so each visit reads it again.
    staleTime: 0,
  })
