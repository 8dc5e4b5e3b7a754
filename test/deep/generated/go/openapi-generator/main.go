// A payment with the client of openapi-generator's go, in the package orgwallet.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"

	"example.com/pay/orgwallet"
	"example.com/pay/wallet"
)

// check ends the program with the answer if the request has failed.
func check(response *http.Response, err error) {
	if failed, ok := err.(*orgwallet.GenericOpenAPIError); ok && response != nil {
		log.Fatalf("%v: %s", err, failed.Body())
	}
	wallet.Check(err)
}

// transferOf is the transfer that a response shows.
func transferOf(response *orgwallet.TransactionResponse) *orgwallet.TokenTransferTransaction {
	return response.Data.TokenTransferTransaction
}

func main() {
	configuration := orgwallet.NewConfiguration()
	configuration.HTTPClient = wallet.HTTPClient()
	configuration.Servers = orgwallet.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	api := orgwallet.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), orgwallet.ContextAccessToken, os.Getenv("API_KEY"))

	var request orgwallet.CreateTransactionRequest
	wallet.Check(json.Unmarshal([]byte(os.Getenv("PAYMENT")), &request))
	shown, response, err := api.TransactionsAPI.CreateTransaction(ctx).
		XIdempotencyKey(wallet.NewKey()).CreateTransactionRequest(request).Execute()
	check(response, err)
	transaction := transferOf(shown)
	payload := transaction.SigningPayloads.InitiatorPayload.InitiatorPayload

	signature := orgwallet.NewSignTransactionRequest(
		orgwallet.TRANSACTIONSIGNATURETYPE_INITIATOR, wallet.Sign(os.Getenv("PRIVATE_KEY"), payload))
	_, response, err = api.TransactionsAPI.SignTransaction(ctx, transaction.Id).
		XIdempotencyKey(wallet.NewKey()).SignTransactionRequest(*signature).Execute()
	check(response, err)

	shown, response, err = api.TransactionsAPI.ExecuteTransaction(ctx, transaction.Id).
		XIdempotencyKey(wallet.NewKey()).
		ExecuteRequest(*orgwallet.NewExecuteRequest(orgwallet.VOTETYPE_APPROVE)).Execute()
	check(response, err)
	transaction = transferOf(shown)
	for *transaction.ExecutionStatus.Get() == orgwallet.EXECUTIONSTATUS_PROCESSING {
		time.Sleep(time.Second)
		shown, response, err = api.TransactionsAPI.GetTransaction(ctx, transaction.Id).Execute()
		check(response, err)
		transaction = transferOf(shown)
	}
	fmt.Println(transaction.Id, *transaction.ExecutionStatus.Get())

	listed, response, err := api.ProposalsAPI.ListProposals(ctx).Execute()
	check(response, err)
	kinds := []string{}
	for _, proposal := range listed.Data {
		text, err := json.Marshal(proposal)
		wallet.Check(err)
		var shown struct{ Kind string }
		wallet.Check(json.Unmarshal(text, &shown))
		kinds = append(kinds, shown.Kind)
	}
	sort.Strings(kinds)
	fmt.Println(strings.Join(kinds, " "))
}
