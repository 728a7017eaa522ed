// The wall clock of one process, which can be set wrong. Everything in the process sees it, libraries too; what is
// measured by counting (`performance.now`, timers) goes on as it would on a machine whose clock somebody sets.

const RealDate = Date

/** The time as it is, whatever the wall clock of this process says: for journals. */
export const trueNow: () => number = RealDate.now.bind(RealDate)

let offsetMs = 0

/** Sets the wall clock so many milliseconds off the truth. Has no effect before the clock is installed. */
export function setWallClock(offMs: number): void {
  offsetMs = offMs
}

const wrongNow = (): number => trueNow() + offsetMs

/** Puts a wall clock that can be set wrong in the place of the real one. */
export function installWallClock(scope: { Date: DateConstructor } = globalThis): void {
  scope.Date = new Proxy(RealDate, {
    apply: () => new RealDate(wrongNow()).toString(),
    construct: (target, args: readonly unknown[], made: new (...args: readonly unknown[]) => object) =>
      Reflect.construct(target, args.length === 0 ? [wrongNow()] : args, made) as Date,
    get: (target, name) => (name === 'now' ? wrongNow : (Reflect.get(target, name) as unknown)),
  })
}
