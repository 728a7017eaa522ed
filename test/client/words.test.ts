import { describe, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type { AsCodeDocument } from '../../src/contract/as-code.ts'
import type { Operations } from '../../src/contract/operations/table.ts'
import type { Grant } from '../../src/core/access.ts'
import type { AuditAction, AuditedKind } from '../../src/core/audit-words.ts'
import type { OverlapAction } from '../../src/core/schedule/schedule-rules.ts'
import type { Client } from '../../src/client/client.ts'
import type { Escapement } from '../../src/escapement.ts'

/** Every enum inside of a schema whose words the compiler does not know: it would be typed `string`. */
type LooseEnums<Schema> =
  Schema extends z.ZodEnum<infer Words>
    ? string extends Words[keyof Words]
      ? Schema
      : never
    : Schema extends z.ZodObject<infer Fields>
      ? { [Name in keyof Fields]: LooseEnums<Fields[Name]> }[keyof Fields]
      : Schema extends z.ZodArray<infer Inner> | z.ZodOptional<infer Inner> | z.ZodNullable<infer Inner>
        ? LooseEnums<Inner>
        : Schema extends z.ZodRecord<infer Names, infer Values>
          ? LooseEnums<Names> | LooseEnums<Values>
          : Schema extends z.ZodUnion<infer Choices>
            ? LooseEnums<Choices[number]>
            : never

type Field<Spec, Name extends string> = Spec extends Readonly<Record<Name, infer Schema>> ? Schema : never

/** All schemas of an operation: what goes in, and what comes out. */
type SchemasOf<Spec extends Operations[keyof Operations]> =
  Field<Spec, 'params'> | Field<Spec, 'query'> | Field<Spec, 'body'> | Spec['answers'][keyof Spec['answers']]

describe('the words of the API', () => {
  it('are unions wherever there is an enum', () => {
    type Loose = { [Id in keyof Operations]: LooseEnums<SchemasOf<Operations[Id]>> }[keyof Operations]
    expectTypeOf<Loose>().toBeNever()
    // It would be found, however deep.
    expectTypeOf<
      LooseEnums<z.ZodObject<{ list: z.ZodArray<z.ZodNullable<z.ZodEnum<Record<string, string>>>> }>>
    >().not.toBeNever()
  })

  it('are completed where they are many', () => {
    type Made = Parameters<Client['keys']['create']>[0]
    expectTypeOf<NonNullable<NonNullable<Made['scopes']>[number]>>().toEqualTypeOf<Grant>()
    type Listed = Awaited<ReturnType<Client['audit']['list']>>['items'][number]
    expectTypeOf<Listed['action']>().toEqualTypeOf<AuditAction>()
    expectTypeOf<Listed['object']['kind']>().toEqualTypeOf<AuditedKind>()
    // @ts-expect-error no such permission
    void ({ name: 'x', scopes: ['runs:raed'] } satisfies Made)
  })

  it('are completed and checked in the client, in the library and in schedules as code', () => {
    type Given = OverlapAction | null | undefined
    type ForClient = Parameters<Client['schedules']['create']>[0]
    type ForLibrary = Parameters<Escapement['schedules']['create']>[0]
    type AsCode = NonNullable<AsCodeDocument['schedules']>[number]
    expectTypeOf<ForClient['overlap_action']>().toEqualTypeOf<Given>()
    expectTypeOf<ForLibrary['overlap_action']>().toEqualTypeOf<Given>()
    expectTypeOf<AsCode['overlap_action']>().toEqualTypeOf<Given>()
    const good = { cron: '0 7 * * *', overlap_action: 'SKIP' } as const
    expectTypeOf(good).toExtend<ForClient>()
    expectTypeOf(good).toExtend<AsCode>()
    // @ts-expect-error no such word
    void ({ overlap_action: 'SOMETIMES' } satisfies ForClient)
    // @ts-expect-error no such word
    void ({ overlap_action: 'SOMETIMES' } satisfies ForLibrary)
    // @ts-expect-error no such word
    void ({ overlap_action: 'SOMETIMES' } satisfies AsCode)
  })
})
