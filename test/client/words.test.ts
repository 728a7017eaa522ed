import { describe, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type { asCodeDocument, AsCodeDocument } from '../../src/features/as-code/schema.ts'
import type { event, EventKind } from '../../src/features/events/schema.ts'
import type { Grant } from '../../src/domain/access/access.ts'
import type { AuditAction, AuditedKind } from '../../src/domain/access/audit-words.ts'
import type { Operations } from '../../src/operations/table.ts'
import type { OverlapAction } from '../../src/domain/schedule/rules.ts'
import type { ResultInput } from '../../src/features/runs/schema.ts'
import type { WorkerAttempt } from '../../src/features/workers/schema.ts'
import type { Client } from '../../src/client/client.ts'
import type { EventsFilter } from '../../src/client/events.ts'
import type { WorkerHandler } from '../../src/client/worker/attempts.ts'
import type { Escapement } from '../../src/library/escapement.ts'

/** Schemas that hold another one and change nothing about its words. */
type Holder<Inner extends z.ZodType> =
  | z.ZodArray<Inner>
  | z.ZodOptional<Inner>
  | z.ZodNullable<Inner>
  | z.ZodDefault<Inner>
  | z.ZodPrefault<Inner>
  | z.ZodReadonly<Inner>

/** Every enum inside of a schema whose words the compiler does not know: it would be typed `string`. */
type LooseEnums<Schema> =
  Schema extends z.ZodEnum<infer Words>
    ? string extends Words[keyof Words]
      ? Schema
      : never
    : Schema extends z.ZodObject<infer Fields>
      ? { [Name in keyof Fields]: LooseEnums<Fields[Name]> }[keyof Fields]
      : Schema extends Holder<infer Inner>
        ? LooseEnums<Inner>
        : Schema extends z.ZodRecord<infer Names, infer Values>
          ? LooseEnums<Names> | LooseEnums<Values>
          : Schema extends z.ZodUnion<infer Choices>
            ? LooseEnums<Choices[number]>
            : Schema extends z.ZodIntersection<infer Left, infer Right>
              ? LooseEnums<Left> | LooseEnums<Right>
              : Schema extends z.ZodPipe<infer In, infer Out>
                ? LooseEnums<In> | LooseEnums<Out>
                : never

type Field<Spec, Name extends string> = Spec extends Readonly<Record<Name, infer Schema>> ? Schema : never

type AnswersOf<Spec extends Operations[keyof Operations]> = Spec['answers'][keyof Spec['answers']]

/** All schemas of an operation: what goes in, what comes out, and what each piece of a stream is. */
type SchemasOf<Spec extends Operations[keyof Operations]> =
  | Field<Spec, 'params'>
  | Field<Spec, 'query'>
  | Field<Spec, 'body'>
  | AnswersOf<Spec>
  | (AnswersOf<Spec> extends infer Answer ? Field<Answer, 'each'> : never)

type LooseEnum = z.ZodEnum<Record<string, string>>

describe('the words of the API', () => {
  it('are unions wherever there is an enum', () => {
    type Loose = { [Id in keyof Operations]: LooseEnums<SchemasOf<Operations[Id]>> }[keyof Operations]
    expectTypeOf<Loose>().toBeNever()
    expectTypeOf<LooseEnums<typeof asCodeDocument>>().toBeNever()
    expectTypeOf<LooseEnums<typeof event>>().toBeNever()
  })

  it('would be found if they were texts, however deep', () => {
    expectTypeOf<LooseEnums<z.ZodObject<{ list: z.ZodArray<z.ZodNullable<LooseEnum>> }>>>().not.toBeNever()
    expectTypeOf<LooseEnums<z.ZodUnion<[z.ZodNull, z.ZodOptional<LooseEnum>]>>>().not.toBeNever()
    expectTypeOf<LooseEnums<z.ZodRecord<LooseEnum, z.ZodNumber>>>().not.toBeNever()
    expectTypeOf<LooseEnums<z.ZodDefault<LooseEnum>>>().not.toBeNever()
    expectTypeOf<LooseEnums<z.ZodIntersection<z.ZodObject<{ word: LooseEnum }>, z.ZodNull>>>().not.toBeNever()
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

  it('are checked in what workers are handed and report', () => {
    expectTypeOf<string>().not.toExtend<WorkerAttempt['trigger_type']>()
    expectTypeOf<string>().not.toExtend<ResultInput['status']>()
    expectTypeOf<Parameters<WorkerHandler>[0]>().toEqualTypeOf<WorkerAttempt>()
    // @ts-expect-error no such word
    void ({ status: 'SOMETIMES' } satisfies ResultInput)
  })

  it('are checked in events of the client and of the library', () => {
    type Received = Extract<Awaited<ReturnType<ReturnType<Client['events']>['next']>>, { readonly done?: false }>
    expectTypeOf<Received['value']['kind']>().toEqualTypeOf<EventKind | 'reset'>()
    expectTypeOf<Parameters<Escapement['on']>[0]>().toEqualTypeOf<EventKind>()
    // @ts-expect-error no such kind
    void ({ kinds: ['run.exploded'] } satisfies EventsFilter)
  })

  it('are those of the kind of an executor', () => {
    type Given = Parameters<Client['agents']['create']>[0]['executor']
    expectTypeOf({ kind: 'http', url: 'https://a.example/', method: 'PUT' } as const).toExtend<Given>()
    // @ts-expect-error the address is missing
    void ({ kind: 'http' } satisfies Given)
    // @ts-expect-error no such method
    void ({ kind: 'http', url: 'https://a.example/', method: 'SEND' } satisfies Given)
    // @ts-expect-error an option of another kind
    void ({ kind: 'worker', url: 'https://a.example/' } satisfies Given)
  })
})
