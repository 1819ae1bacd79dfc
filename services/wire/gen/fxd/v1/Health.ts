// Original file: proto/fxd/v1/registry.proto


export interface Health {
  /**
   * Why the store does not work, as a sentence; empty: it works.
   */
  'storeFault'?: (string);
  /**
   * The same of the bus.
   */
  'busFault'?: (string);
}

export interface Health__Output {
  /**
   * Why the store does not work, as a sentence; empty: it works.
   */
  'storeFault': (string);
  /**
   * The same of the bus.
   */
  'busFault': (string);
}
