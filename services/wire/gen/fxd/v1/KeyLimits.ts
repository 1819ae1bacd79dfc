// Original file: proto/fxd/v1/registry.proto


export interface KeyLimits {
  /**
   * Maximum requests per UTC minute.
   */
  'rpm'?: (number);
  /**
   * Maximum requests per UTC day.
   */
  'rpd'?: (number);
  /**
   * Maximum sockets open at the same time.
   */
  'wsConnections'?: (number);
  /**
   * Maximum subscribed symbols of one socket.
   */
  'wsSymbols'?: (number);
  '_rpm'?: "rpm";
  '_rpd'?: "rpd";
  '_wsConnections'?: "wsConnections";
  '_wsSymbols'?: "wsSymbols";
}

export interface KeyLimits__Output {
  /**
   * Maximum requests per UTC minute.
   */
  'rpm'?: (number);
  /**
   * Maximum requests per UTC day.
   */
  'rpd'?: (number);
  /**
   * Maximum sockets open at the same time.
   */
  'wsConnections'?: (number);
  /**
   * Maximum subscribed symbols of one socket.
   */
  'wsSymbols'?: (number);
  '_rpm'?: "rpm";
  '_rpd'?: "rpd";
  '_wsConnections'?: "wsConnections";
  '_wsSymbols'?: "wsSymbols";
}
