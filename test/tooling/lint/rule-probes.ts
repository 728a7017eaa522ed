import type { Probe } from './lint-probes.ts'

// One violation of every rule. `test/tooling/lint/rule-table.test.ts` compares the names with the configuration, so a rule
// can neither be lost nor be added without being seen firing.

const inSource = (code: string): Probe => ({ file: 'src/probe.ts', code: `${code}\n` })
const inCore = (code: string): Probe => ({ file: 'src/domain/probe.ts', code: `${code}\n` })
const inScript = (code: string): Probe => ({ file: 'scripts/probe.mjs', code: `${code}\n` })
const inConsole = (code: string): Probe => ({ file: 'ui/probe.tsx', code: `${code}\n` })

const WITH_TYPES: Readonly<Record<string, string>> = {
  'typescript/await-thenable': 'export const f = async (): Promise<number> => await 1',
  'typescript/no-array-delete': 'export const f = (list: number[]): void => {\n  delete list[0]\n}',
  'typescript/no-base-to-string': 'export const f = (x: object): string => `${x}`',
  'typescript/no-confusing-void-expression':
    'declare const g: () => void\nexport const f = (): void => {\n  const x = g()\n  return x\n}',
  'typescript/no-deprecated': '/** @deprecated use another */\ndeclare const old: number\nexport const f = old',
  'typescript/no-duplicate-type-constituents': 'export type A = string | string',
  'typescript/no-floating-promises': 'Promise.resolve(1)',
  'typescript/no-for-in-array':
    'export const f = (list: number[]): void => {\n  for (const key in list) list.push(Number(key))\n}',
  'typescript/no-generated-empty-object-type': "export type A = Omit<{ readonly a: 1 }, 'a'>",
  'typescript/no-implied-eval': "setTimeout('f()', 1)",
  'typescript/no-meaningless-void-operator': 'declare const g: () => void\nvoid g()',
  'typescript/no-misused-promises':
    'export const f = (list: readonly number[]): void => list.forEach(async () => Promise.resolve())',
  'typescript/no-misused-spread': 'export const f = (list: readonly number[]): object => ({ ...list })',
  'typescript/no-mixed-enums': "export enum A {\n  One = 1,\n  Two = 'two',\n}",
  'typescript/no-redundant-type-constituents': 'export type A = unknown | string',
  'typescript/no-unnecessary-boolean-literal-compare': 'export const f = (x: boolean): boolean => x === true',
  'typescript/no-unnecessary-condition': 'export const f = (x: { readonly a: number }): number => x?.a',
  'typescript/no-unnecessary-template-expression': "export const f = (x: string): string => `${x}${'a'}`",
  'typescript/no-unnecessary-type-arguments':
    'declare const g: <T = string>(x: T) => T\nexport const f = g<string>("a")',
  'typescript/no-unnecessary-type-assertion': 'export const f = (x: number): number => x as number',
  'typescript/no-unnecessary-type-conversion': 'export const f = (x: string): string => String(x)',
  'typescript/no-unnecessary-type-parameters': 'export const f = <T>(x: T): string => typeof x',
  'typescript/no-unsafe-argument':
    'declare const g: (x: number) => void\nexport const f = (text: string): void => g(JSON.parse(text))',
  'typescript/no-unsafe-assignment': 'export const f = (text: string): void => {\n  const x = JSON.parse(text)\n}',
  'typescript/no-unsafe-call': 'export const f = (text: string): void => {\n  JSON.parse(text)()\n}',
  'typescript/no-unsafe-enum-comparison': 'export enum A {\n  One = 1,\n}\nexport const f = (a: A): boolean => a === 1',
  'typescript/no-unsafe-member-access': 'export const f = (text: string): unknown => JSON.parse(text).a',
  'typescript/no-unsafe-return': 'export const f = (text: string): string => JSON.parse(text)',
  'typescript/no-unsafe-unary-minus': 'export const f = (x: string): number => -x',
  'typescript/no-useless-default-assignment':
    'export const f = (list: readonly number[]): number[] => list.map((n = 0) => n + 1)',
  'typescript/only-throw-error': "export const f = (): never => {\n  throw 'a text'\n}",
  'typescript/prefer-promise-reject-errors': "export const f = (): Promise<never> => Promise.reject('a text')",
  'typescript/prefer-reduce-type-parameter':
    'export const f = (list: readonly string[]): string[] => list.reduce((all, x) => [...all, x], [] as string[])',
  'typescript/prefer-return-this-type':
    'export class A {\n  count = 0\n  more(): A {\n    this.count += 1\n    return this\n  }\n}',
  'typescript/related-getter-setter-pairs': 'export interface A {\n  get a(): string\n  set a(value: number)\n}',
  'typescript/require-await': 'export const f = async (): Promise<number> => {\n  return 1\n}',
  'typescript/restrict-plus-operands': "export const f = (x: number): string => x + 'a'",
  'typescript/restrict-template-expressions': 'export const f = (x: object): string => `${x}`',
  'typescript/return-await':
    'export const f = async (): Promise<number> => {\n  try {\n    return Promise.resolve(1)\n  } catch {\n    return 2\n  }\n}',
  'typescript/switch-exhaustiveness-check':
    "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1\n  }\n  return 2\n}",
  'typescript/unbound-method': 'declare class A {\n  a(): void\n}\nexport const f = (x: A): (() => void) => x.a',
  'typescript/use-unknown-in-catch-callback-variable':
    'export const f = (): Promise<number> => Promise.resolve(1).catch((error: Error) => error.message.length)',
}

const OF_TYPESCRIPT: Readonly<Record<string, string>> = {
  'typescript/ban-ts-comment': '// @ts-ignore\nexport const a = 1',
  'typescript/consistent-type-imports': "import { Instant } from './domain/instant.ts'\nexport type Moment = Instant",
  'typescript/explicit-module-boundary-types': 'export const double = (x: number) => 2 * x',
  'typescript/no-duplicate-enum-values': 'export enum A {\n  One = 1,\n  Two = 1,\n}',
  'typescript/no-dynamic-delete':
    'export const f = (x: Record<string, number>, key: string): void => {\n  delete x[key]\n}',
  'typescript/no-empty-object-type': 'export type A = {}',
  'typescript/no-explicit-any': 'export const f = (x: any): boolean => x === 1',
  'typescript/no-extra-non-null-assertion': 'export const f = (list: readonly number[]): number => list[0]!!',
  'typescript/no-extraneous-class': 'export class A {\n  static a = 1\n}',
  'typescript/no-invalid-void-type': 'export const f = (x: void): unknown => x',
  'typescript/no-misused-new': 'export interface A {\n  new (): A\n}',
  'typescript/no-namespace': 'export namespace A {\n  export const a = 1\n}',
  'typescript/no-non-null-asserted-nullish-coalescing':
    'export const f = (g: () => number | null): number => g()! ?? 1',
  'typescript/no-non-null-asserted-optional-chain':
    'export const f = (x: { readonly a: number } | undefined): number => x?.a!',
  'typescript/no-non-null-assertion': 'export const f = (list: readonly number[]): number => list[0]!',
  'typescript/no-require-imports': "export const fs: unknown = require('node:fs')",
  'typescript/no-this-alias': 'export class A {\n  a(): unknown {\n    const self = this\n    return self\n  }\n}',
  'typescript/no-unnecessary-type-constraint': 'export const f = <T extends unknown>(a: T, b: T): T[] => [a, b]',
  'typescript/no-unsafe-declaration-merging': 'export interface A {\n  a: number\n}\nexport class A {\n  b = 1\n}',
  'typescript/no-unsafe-function-type': 'export type A = Function',
  'typescript/no-wrapper-object-types': 'export type A = String',
  'typescript/prefer-as-const': "export const a = 'a' as 'a'",
  'typescript/prefer-literal-enum-member': 'const one = 1\nexport enum A {\n  One = one,\n}',
  'typescript/prefer-namespace-keyword': 'declare module A {\n  const a: number\n}',
  'typescript/triple-slash-reference': '/// <reference path="./domain/instant.ts" />\nexport const a = 1',
  'typescript/unified-signatures': 'export interface A {\n  a(x: number): void\n  a(x: string): void\n}',
}

const OF_JAVASCRIPT: Readonly<Record<string, string>> = {
  eqeqeq: 'export const f = (x: number | null): boolean => x == null',
  'max-lines': Array.from({ length: 401 }, (_, n) => `export const a${n} = ${n}`).join('\n'),
  'max-lines-per-function': `export function f(): number {\n  let n = 0\n${'  n += 1\n'.repeat(60)}  return n\n}`,
  'max-params': 'export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d',
  'no-array-constructor': 'export const a = new Array(1, 2)',
  'no-cond-assign':
    'export function f(x: number): number {\n  if ((x = 1)) return x\n  while (x = 2) return x\n  return 3\n}',
  'no-console': "console.log('here')",
  'no-constant-condition': 'export const f = (): number => (1 ? 2 : 3)',
  'no-control-regex': 'export const a = /\\x1b/',
  'no-debugger': 'debugger',
  'no-duplicate-case':
    'export function f(x: number): number {\n  switch (x) {\n    case 1:\n      return 1\n    case 1:\n      return 2\n    default:\n      return 3\n  }\n}',
  'no-empty': 'export function f(x: number): void {\n  if (x > 1) {\n  }\n}',
  'no-fallthrough':
    'export function f(x: number): number {\n  let n = 0\n  switch (x) {\n    case 1:\n      n += 1\n    default:\n      n += 2\n  }\n  return n\n}',
  'no-loss-of-precision': 'export const a = 9007199254740993',
  'no-misleading-character-class': 'export const a = /[👍]/',
  'no-restricted-imports': "import { env } from 'node:process'\nexport { env }",
  'no-restricted-properties': 'export const home = process.env["HOME"]',
  'house/no-restricted-syntax': "export * from './domain/instant.ts'",
  'no-self-compare': 'export const f = (x: number): boolean => x === x',
  'no-sparse-arrays': 'export const a = [1, , 2]',
  'no-unreachable': 'export function f(): number {\n  return 1\n  f()\n}',
  'no-unsafe-finally': 'export function f(): number {\n  try {\n    return 1\n  } finally {\n    return 2\n  }\n}',
  'no-unused-expressions': 'export const f = (x: number): void => {\n  x === 1\n}',
  'no-unused-labels': 'export function f(): number {\n  here: for (;;) return 1\n}',
  'no-unused-vars': 'const a = 1',
  'no-useless-catch':
    'export function f(): number {\n  try {\n    return Number(1)\n  } catch (error) {\n    throw error\n  }\n}',
  'no-useless-constructor': 'export class A {\n  a = 1\n  constructor() {}\n}',
  'no-useless-escape': "export const a = '\\d'",
  'no-var': 'export var a = 1',
  'object-shorthand': 'export const f = (a: number): object => ({ a: a })',
  'prefer-const': 'export function f(): number {\n  let a = 1\n  return a\n}',
  'prefer-rest-params': 'export function f(): number {\n  return arguments[0] as number\n}',
  'prefer-spread': 'export const f = (g: (...x: number[]) => number, x: number[]): number => g.apply(undefined, x)',
  'use-isnan': 'export const f = (x: number): boolean => x === NaN',
  'valid-typeof': "export const f = (x: unknown): boolean => typeof x === 'strin'",
}

const mapped = (codes: Readonly<Record<string, string>>): readonly (readonly [rule: string, probe: Probe])[] =>
  Object.entries(codes).map(([rule, code]) => [rule, inSource(code)])

export const RULE_PROBES: readonly (readonly [rule: string, probe: Probe])[] = [
  ...mapped(WITH_TYPES),
  ...mapped(OF_TYPESCRIPT),
  ...mapped(OF_JAVASCRIPT),
  ['no-undef', inScript('export const a = nowhere')],
  ['no-restricted-globals', inCore('export const f = (): number => performance.now()')],
  [
    'react-hooks/rules-of-hooks',
    inConsole(
      "import { useState } from 'react'\nexport function Page({ on }: { readonly on: boolean }) {\n  if (on) useState(1)\n  return null\n}",
    ),
  ],
  [
    'react-hooks/exhaustive-deps',
    inConsole(
      "import { useMemo } from 'react'\nexport function Page({ n }: { readonly n: number }) {\n  const twice = useMemo(() => 2 * n, [])\n  return <p>{twice}</p>\n}",
    ),
  ],
]
