import type { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { AsCodeDocument } from '../../features/as-code/schema.ts'
import { AS_CODE_KINDS } from '../../core/as-code/kinds.ts'
import { writeYaml } from '../../yaml/write.ts'
import { kindsIn } from '../as-code/kinds.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'

interface ExportOptions {
  readonly kinds?: string
  readonly output?: string
}

/** `escapement export`: what is stored, as a file that `apply` takes. */
export function addExport(command: Command, desk: Desk): void {
  command
    .option('--kinds <kinds>', `only these, separated by commas: ${AS_CODE_KINDS.join(', ')}`)
    .option('-o, --output <file>', 'write to this file, replacing it')
  remote<ExportOptions>(desk, command, {
    work: async (talk, _, options) => {
      const kinds = kindsIn(options.kinds)
      const document = await talk.client.asCode.export(kinds === null ? {} : { kinds: kinds.join(',') })
      const text = talk.json ? `${JSON.stringify(document, null, 2)}\n` : asYaml(talk, document)
      await (options.output === undefined ? talk.print(text) : keep(talk, options.output, { text, document }))
    },
  })
}

/** The first line tells editors how to complete and check the file. */
const asYaml = ({ url }: Talk, document: AsCodeDocument): string =>
  writeYaml(document, {
    comment: [`yaml-language-server: $schema=${url}/schema/escapement.schema.json`],
  })

interface Made {
  readonly text: string
  readonly document: AsCodeDocument
}

async function keep(talk: Talk, file: string, { text, document }: Made): Promise<void> {
  await writeFile(path.resolve(talk.terminal.cwd ?? process.cwd(), file), text).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
  })
  const counts = AS_CODE_KINDS.flatMap((kind) =>
    document[kind] === undefined ? [] : [`${document[kind].length} ${kind}`],
  )
  await talk.note(`${file}: ${counts.join(', ')}\n`)
}
