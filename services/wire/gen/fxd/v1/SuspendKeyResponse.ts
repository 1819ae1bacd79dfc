// Original file: proto/fxd/v1/registry.proto


export interface SuspendKeyResponse {
  /**
   * Whether the key is inactive now, and this owner's.
   */
  'suspended'?: (boolean);
}

export interface SuspendKeyResponse__Output {
  /**
   * Whether the key is inactive now, and this owner's.
   */
  'suspended': (boolean);
}
