// A payment with the client of oapi-codegen, in the package orgwallet.
package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"

	"example.com/pay/orgwallet"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// expect ends the program with the answer if it has another status.
func expect(status, wanted int, body []byte) {
	if status != wanted {
		log.Fatalf("%d: %s", status, body)
	}
}

// newKey is a random UUID.
func newKey() string {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	check(err)
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[0:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

// sign signs typed data (JSON text), and encodes the signature together with the address.
func sign(privateKey, payload string) string {
	key, err := crypto.HexToECDSA(strings.TrimPrefix(privateKey, "0x"))
	check(err)
	var typedData apitypes.TypedData
	check(json.Unmarshal([]byte(payload), &typedData))
	digest, _, err := apitypes.TypedDataAndHash(typedData)
	check(err)
	signature, err := crypto.Sign(digest, key)
	check(err)
	signature[64] += 27
	address, err := abi.NewType("address", "", nil)
	check(err)
	bytes, err := abi.NewType("bytes", "", nil)
	check(err)
	encoded, err := abi.Arguments{{Type: address}, {Type: bytes}}.Pack(crypto.PubkeyToAddress(key.PublicKey), signature)
	check(err)
	return "0x" + hex.EncodeToString(encoded)
}

// client trusts the certificate of the service, and sends the API key.
func client() *orgwallet.ClientWithResponses {
	certificate, err := os.ReadFile(os.Getenv("CA_FILE"))
	check(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	api, err := orgwallet.NewClientWithResponses(
		os.Getenv("BASE_URL"),
		orgwallet.WithHTTPClient(&http.Client{Transport: transport}),
		orgwallet.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
			return nil
		}),
	)
	check(err)
	return api
}

// transferOf is the transfer that a response shows.
func transferOf(response *orgwallet.TransactionResponse) orgwallet.TokenTransferTransaction {
	transfer, err := response.Data.AsTokenTransferTransaction()
	check(err)
	return transfer
}

func main() {
	api, ctx := client(), context.Background()
	var request orgwallet.CreateTransactionRequest
	check(json.Unmarshal([]byte(os.Getenv("PAYMENT")), &request))
	created, err := api.CreateTransactionWithResponse(
		ctx, &orgwallet.CreateTransactionParams{XIdempotencyKey: newKey()}, request)
	check(err)
	expect(created.StatusCode(), 201, created.Body)
	transaction := transferOf(created.JSON201)
	payload, err := transaction.SigningPayloads.AsInitiatorPayload()
	check(err)

	signed, err := api.SignTransactionWithResponse(
		ctx, transaction.Id, &orgwallet.SignTransactionParams{XIdempotencyKey: newKey()},
		orgwallet.SignTransactionRequest{
			Type: "initiator", Signature: sign(os.Getenv("PRIVATE_KEY"), payload.InitiatorPayload),
		})
	check(err)
	expect(signed.StatusCode(), 200, signed.Body)

	executed, err := api.ExecuteTransactionWithResponse(
		ctx, transaction.Id, &orgwallet.ExecuteTransactionParams{XIdempotencyKey: newKey()},
		orgwallet.ExecuteRequest{Type: "approve"})
	check(err)
	expect(executed.StatusCode(), 200, executed.Body)
	transaction = transferOf(executed.JSON200)
	for *transaction.ExecutionStatus == "processing" {
		time.Sleep(time.Second)
		read, err := api.GetTransactionWithResponse(ctx, transaction.Id)
		check(err)
		expect(read.StatusCode(), 200, read.Body)
		transaction = transferOf(read.JSON200)
	}
	fmt.Println(transaction.Id, *transaction.ExecutionStatus)

	listed, err := api.ListProposalsWithResponse(ctx, &orgwallet.ListProposalsParams{})
	check(err)
	expect(listed.StatusCode(), 200, listed.Body)
	kinds := []string{}
	for _, proposal := range listed.JSON200.Data {
		kind, err := proposal.Discriminator()
		check(err)
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	fmt.Println(strings.Join(kinds, " "))
}
