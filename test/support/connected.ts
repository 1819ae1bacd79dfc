/** The stores of a server once it answered. Rejects as `connect` does, and then nothing stays open. */
export async function connected<S extends { close(): Promise<void> }>(prepared: {
  readonly stores: S
  readonly connect: () => Promise<void>
}): Promise<S> {
  await prepared.connect().catch(async (cause: unknown) => {
    await prepared.stores.close()
    throw cause
  })
  return prepared.stores
}
