interface Prepared<S> {
  readonly stores: S
  readonly connect: () => Promise<void>
}

/** The stores of a server once it answered. Rejects as `connect` does, and then nothing stays open. */
export async function connected<S extends { close(): Promise<void> }>({
  stores,
  connect,
}: Prepared<S>): Promise<S> {
  await connect().catch(async (cause: unknown) => {
    await stores.close()
    throw cause
  })
  return stores
}
