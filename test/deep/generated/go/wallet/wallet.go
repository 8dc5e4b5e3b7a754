// Package wallet has what a payment needs beside a generated client.
package wallet

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Check ends the program with the error, if there is one.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// NewKey is a random UUID.
func NewKey() string {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	Check(err)
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[0:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

// Sign signs typed data (JSON text), and encodes the signature together with the address.
func Sign(privateKey, payload string) string {
	key, err := crypto.HexToECDSA(strings.TrimPrefix(privateKey, "0x"))
	Check(err)
	var typedData apitypes.TypedData
	Check(json.Unmarshal([]byte(payload), &typedData))
	digest, _, err := apitypes.TypedDataAndHash(typedData)
	Check(err)
	signature, err := crypto.Sign(digest, key)
	Check(err)
	signature[64] += 27
	address, err := abi.NewType("address", "", nil)
	Check(err)
	bytes, err := abi.NewType("bytes", "", nil)
	Check(err)
	encoded, err := abi.Arguments{{Type: address}, {Type: bytes}}.Pack(crypto.PubkeyToAddress(key.PublicKey), signature)
	Check(err)
	return "0x" + hex.EncodeToString(encoded)
}

// HTTPClient trusts the certificate of the service.
func HTTPClient() *http.Client {
	certificate, err := os.ReadFile(os.Getenv("CA_FILE"))
	Check(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}
