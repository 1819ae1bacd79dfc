/** The calls of a worker, by name. Each has one argument that can cross threads. */
export type Calls = { readonly [name: string]: (argument: never) => unknown }

export interface CallMessage {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}

/** The first message of a worker reports its readiness; all others answer a call. */
export type AnswerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly reason: string }

/** Buffers of the columns directly inside a value: they are transferred between threads, not copied. */
export function columnBuffers(value: unknown): ArrayBuffer[] {
  if (value === null || typeof value !== 'object') return []
  const members: readonly unknown[] = value instanceof Float64Array ? [value] : Object.values(value)
  return members.flatMap((member) =>
    member instanceof Float64Array && member.buffer instanceof ArrayBuffer ? [member.buffer] : [],
  )
}
